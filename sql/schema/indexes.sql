-- No index but the primary key and these two: each costs every task.

-- Behind what is due stand the few tasks that were set to STOP while they ran: due is null there.
CREATE INDEX IF NOT EXISTS pgtaskd_open_:hash ON :table (due, id) WHERE due IS NOT NULL OR stopping;

CREATE UNIQUE INDEX IF NOT EXISTS pgtaskd_wait_key_:hash ON :table (wait_key);
