-- false for the role that ALTER ROLE … SET role gave the session, if it did, then true for the login:
-- each may see and end other sessions. With true, what follows takes the role off, as :unmasked does.
(
    SELECT x.login
    FROM (VALUES (false), (true)) AS x (login)
    WHERE x.login OR current_setting('role') <> 'none'
    OFFSET 0
) AS v
