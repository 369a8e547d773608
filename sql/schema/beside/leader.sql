-- The controllers of the table, one in each row. Everybody may read the columns that say nothing
-- about the machine, because :its_why reads them.
CREATE TABLE IF NOT EXISTS :its_leader (
    controller text PRIMARY KEY, leads bool NOT NULL, since timestamptz NOT NULL, seen timestamptz NOT NULL,
    host text, pid int4, version text, run int4, timezone text
);
GRANT SELECT (leads, since, seen, run, timezone) ON TABLE :its_leader TO PUBLIC;
COMMENT ON TABLE :its_leader IS 'Controllers: one leads, the others stand by (:made)';
COMMENT ON COLUMN :its_leader.controller IS 'Host, process id and start';
COMMENT ON COLUMN :its_leader.leads IS 'false: it stands by, or has drained';
COMMENT ON COLUMN :its_leader.seen IS 'When it last wrote this row: each minute';
COMMENT ON COLUMN :its_leader.run IS 'Most tasks that it runs at once';
COMMENT ON COLUMN :its_leader.timezone IS 'Time zone of its calendar';
