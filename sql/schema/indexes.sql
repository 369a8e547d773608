-- No index but the primary key and these two: each costs every task.

CREATE INDEX IF NOT EXISTS pgtask_due_:hash ON :table (due, id) WHERE due IS NOT NULL;

CREATE UNIQUE INDEX IF NOT EXISTS pgtask_wait_key_:hash ON :table (wait_key);
