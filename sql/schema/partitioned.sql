-- Steps only for partitioned tables: there, only the partition key can be unique over all parts.

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtaskd_key_check, ADD CONSTRAINT pgtaskd_key_check
    CHECK (key IS NULL);

-- Lookups by id need an index, since id is no primary key there.
CREATE INDEX IF NOT EXISTS :bare_number_idx ON :table (id);
COMMENT ON INDEX :schema.:bare_number_idx IS 'Finds a task';
