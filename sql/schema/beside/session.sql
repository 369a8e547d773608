-- The sessions that the leader has opened: the next leader recognises them by it, since anybody can
-- name a session like one of them. It is not logged, because a crash ends all of them.
CREATE UNLOGGED TABLE IF NOT EXISTS :its_session (pid int4, started timestamptz, PRIMARY KEY (pid, started));
COMMENT ON TABLE :its_session IS 'Sessions that the leader has opened, for the next one (:made)';
COMMENT ON COLUMN :its_session.pid IS 'Its backend';
COMMENT ON COLUMN :its_session.started IS 'Its backend_start in pg_stat_activity';
