-- Ends sessions of an old leader that wait, in a transaction, for a word that cannot come any more: or for the rest of it, if it was cut off in the middle.
-- $1 sessions that are ours, $2 beginning of the application_name of the target's sessions
SELECT pg_catalog.pg_terminate_backend(a.pid)
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname = pg_catalog.current_database()
    AND a.usename = current_user
    AND left(a.application_name, length($2)) = $2
    AND (a.state LIKE 'idle in transaction%' OR a.state = 'active' AND a.wait_event = 'ClientRead')
    AND a.state_change < statement_timestamp() - interval '1 s'
    AND a.pid <> ALL ($1::int4[])
