-- Takes off the role that ALTER ROLE … SET role gave the session, until the transaction ends, and is
-- true. That role may neither see the sessions of its login nor end them. Rights to tables were
-- checked before, when the statement began.
set_config('role', 'none', true) <> ''
