-- The controllers, and in place where the table is. Everybody may read what :its_why reads.
CREATE TABLE IF NOT EXISTS :its_leader (
    controller text PRIMARY KEY, leads bool NOT NULL, since timestamptz NOT NULL, seen timestamptz NOT NULL,
    host text, pid int4, version text, run int4, timezone text
);
ALTER TABLE :its_leader ADD IF NOT EXISTS place jsonb;
GRANT SELECT (leads, since, seen, run, timezone) ON TABLE :its_leader TO PUBLIC;
COMMENT ON TABLE :its_leader IS 'Controllers: one leads (:made)';
