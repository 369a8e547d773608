-- Whether memberships have no options yet: since then one may be without SET. (major/ has the table
-- of all versions.)
current_setting('server_version_num')::int4 < 160000
