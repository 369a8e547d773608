-- Only the primary key and these indexes: each costs every task. Their names cannot be mistaken for
-- names that the server makes from columns.

-- The few tasks that were set to STOP while they ran come after all due tasks: their due is null.
CREATE INDEX IF NOT EXISTS :bare_open_idx ON :table (due, id) WHERE due IS NOT NULL OR stopping;

-- Partial for two reasons. Rows without a key are in no index. And state, on which wait_key
-- depends, is then in no key that others may refer to: else a task whose SQL refers to its own row
-- by a foreign key could not be marked.
CREATE UNIQUE INDEX IF NOT EXISTS :bare_one_waits_idx ON :table (wait_key) WHERE wait_key IS NOT NULL;

-- Tasks that wait for others or run after them, for keep: few if nobody uses after, and then none.
-- stop changes only together with due.
CREATE INDEX IF NOT EXISTS :bare_follows_idx ON :table (id) WHERE stop IS NULL AND after IS NOT NULL;

-- Finds the tasks that wait for an ended task. Partial, and no run or end changes its columns.
CREATE INDEX IF NOT EXISTS :bare_awaiting_idx ON :table (awaits, awaited, priority DESC, id) WHERE awaits IS NOT NULL;

-- Repeating tasks that wait, are paused or run: the few rows of the schedule. stop changes only
-- together with due, so the index makes no update lose HOT. Conditions are written as the server
-- shows them, so that an existing index is recognised; brackets do not matter.
CREATE INDEX IF NOT EXISTS :bare_repeats_idx ON :table (id) WHERE stop IS NULL AND (repeat > '00:00:00'::interval OR cron IS NOT NULL);
