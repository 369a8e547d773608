-- Gives a session of a lower role the token by which its first end is written.
-- $1 process id, $2 SHA-256 of the token
INSERT INTO :tokens AS t (pid, token)
VALUES ($1::int4, $2::bytea)
ON CONFLICT (pid) DO UPDATE SET token = excluded.token
