-- No index but the primary key and these two: each costs every task.

-- Behind what is due stand the few tasks that were set to STOP while they ran: due is null there. It was pgtask_due, without them, up to
-- schema version 2.
CREATE INDEX IF NOT EXISTS pgtask_open_:hash ON :table (due, id) WHERE due IS NOT NULL OR stopping;
DROP INDEX IF EXISTS :schema.pgtask_due_:hash;

CREATE UNIQUE INDEX IF NOT EXISTS pgtask_wait_key_:hash ON :table (wait_key);
