-- The sessions that the leader has opened: the next leader recognises them by it, since anybody can
-- name a session like one of them. It is not logged, because a crash ends all of them.
CREATE UNLOGGED TABLE IF NOT EXISTS :its_session (pid int4, started timestamptz, PRIMARY KEY (pid, started));
COMMENT ON TABLE :its_session IS 'Backends that the leader has opened (:made)';
