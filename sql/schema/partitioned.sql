-- What a partitioned table gets besides: its parts can not be unique together in anything but the
-- partition key.

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtaskd_key_check, ADD CONSTRAINT pgtaskd_key_check
    CHECK (key IS NULL);

-- Tasks are looked up by id, which is no primary key there.
CREATE INDEX IF NOT EXISTS :bare_number_idx ON :table (id);
COMMENT ON INDEX :schema.:bare_number_idx IS 'Finds a task';
