-- The sessions that the leader has opened. The next leader recognises them by this table, since
-- anybody can use their names. It is unlogged, because a crash ends all sessions.
CREATE UNLOGGED TABLE IF NOT EXISTS :its_session (pid int4, started timestamptz, PRIMARY KEY (pid, started));
COMMENT ON TABLE :its_session IS 'Backends of the leader (:made)';
