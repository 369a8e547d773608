-- Limits for groups. The sequence tells the leader that a limit has changed.
CREATE TABLE IF NOT EXISTS :its_group (
    "group" text PRIMARY KEY CHECK (octet_length("group") <= 65536 AND (right("group", 1) <> '%' OR octet_length("group") <= 100)),
    paused bool NOT NULL DEFAULT false, until timestamptz,
    slots int4 CHECK (slots >= 0),
    rate int4 CHECK (rate > 0),
    per interval CHECK (per > '0' AND per <= '100 years' AND date_part('epoch', per) > 0),
    note text, changed_by text, changed_at timestamptz,
    CONSTRAINT pgtaskd_rate_per_check CHECK ((rate IS NULL) = (per IS NULL))
);
CREATE SEQUENCE IF NOT EXISTS :its_group_changes;
ALTER SEQUENCE :its_group_changes CYCLE OWNED BY :its_group."group";
DROP TRIGGER IF EXISTS pgtaskd_note ON :its_group;
CREATE TRIGGER pgtaskd_note BEFORE INSERT OR UPDATE ON :its_group FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_group_note();
DROP TRIGGER IF EXISTS pgtaskd_tell ON :its_group;
CREATE TRIGGER pgtaskd_tell AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE ON :its_group FOR EACH STATEMENT EXECUTE FUNCTION :schema.pgtaskd_group_tell(:table_text);
COMMENT ON TABLE :its_group IS 'Limits for groups of tasks (:made)';
COMMENT ON SEQUENCE :its_group_changes IS 'Counts the changes of limits (:version)';
COMMENT ON COLUMN :its_group."group" IS 'With % at its end: each group that begins so';
COMMENT ON COLUMN :its_group.paused IS 'true: no task starts';
COMMENT ON COLUMN :its_group.slots IS 'Most tasks at once, over all remotes';
COMMENT ON COLUMN :its_group.rate IS 'Most starts in any time of length per';
