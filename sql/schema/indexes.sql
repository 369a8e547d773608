-- No index but the primary key and these: each costs every task. They are called as nothing that the
-- server would name after a column.

-- After what is due come the few tasks that were set to STOP while they ran: due is null there.
CREATE INDEX IF NOT EXISTS :bare_open_idx ON :table (due, id) WHERE due IS NOT NULL OR stopping;
COMMENT ON INDEX :schema.:bare_open_idx IS 'Finds what is due, and what is to be stopped';

-- Partial, so that rows without a key are in no index for it, and state, on which wait_key depends,
-- belongs to no key that others may refer to: a task whose SQL refers to its own row by a foreign
-- key could not be marked else.
CREATE UNIQUE INDEX IF NOT EXISTS :bare_one_waits_idx ON :table (wait_key) WHERE wait_key IS NOT NULL;
COMMENT ON INDEX :schema.:bare_one_waits_idx IS 'At most one waiting task per key';

-- What waits for others, or runs after them, for keep: few where nobody uses it, and then in no
-- index. stop changes only with due.
CREATE INDEX IF NOT EXISTS :bare_follows_idx ON :table (id) WHERE stop IS NULL AND after IS NOT NULL;
COMMENT ON INDEX :schema.:bare_follows_idx IS 'What waits for others';

-- Finds who waits for a task that has ended. Partial, and on nothing that a run or its end changes.
CREATE INDEX IF NOT EXISTS :bare_awaiting_idx ON :table (awaits, awaited, priority DESC, id) WHERE awaits IS NOT NULL;
COMMENT ON INDEX :schema.:bare_awaiting_idx IS 'Who waits for a task';

-- What repeats and waits, is paused or runs: the few rows of the schedule. stop changes only with
-- due, so no update stays HOT less for it. Conditions are written as the server shows them, by which
-- an index that is there is known; brackets do not matter.
CREATE INDEX IF NOT EXISTS :bare_repeats_idx ON :table (id) WHERE stop IS NULL AND (repeat > '00:00:00'::interval OR cron IS NOT NULL);
COMMENT ON INDEX :schema.:bare_repeats_idx IS 'The few rows of the schedule';
