-- What a partitioned table gets besides: its parts can not be unique together in anything but the partition key.

ALTER TABLE :table DROP CONSTRAINT IF EXISTS pgtask_key_check, ADD CONSTRAINT pgtask_key_check
    CHECK (key IS NULL);
