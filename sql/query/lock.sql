-- Leadership: who holds this lock serves the table. It falls with the session.
-- $1 key of database, schema and table
SELECT pg_catalog.pg_try_advisory_lock($1)
