-- What everything is for. The comment of the table and of the functions also has the schema's
-- version.

-- The trigger calls it as whoever inserts, from whom default privileges may keep it.
COMMENT ON FUNCTION :schema.pgtaskd_cron_:hash(:schema.pgtaskd_call_:hash) IS 'Says what is wrong with a cron expression, and where; null: nothing (:version)';
GRANT EXECUTE ON FUNCTION :schema.pgtaskd_cron_:hash(:schema.pgtaskd_call_:hash) TO PUBLIC;

COMMENT ON FUNCTION :schema.pgtaskd_after_:hash(pg_catalog.int8, pg_catalog.int8[], :schema.pgtaskd_call_:hash) IS 'Says what is wrong with the column after of a task; null: nothing (:version)';
GRANT EXECUTE ON FUNCTION :schema.pgtaskd_after_:hash(pg_catalog.int8, pg_catalog.int8[], :schema.pgtaskd_call_:hash) TO PUBLIC;

COMMENT ON FUNCTION :schema.pgtaskd_accept_:hash() IS 'Keeps plan and the intervals of a task within bounds, and wakes the leader, if it sleeps, for new tasks (:version)';

COMMENT ON FUNCTION :schema.pgtaskd_wake_:hash() IS 'Wakes the leader that serves the table (:version)';

COMMENT ON FUNCTION :schema.pgtaskd_state_:hash() IS 'STOP on an ended task puts its old state back, and on a running one it is noted in the row; PLAN lets it run again; TAKE and WORK are refused (:version)';

COMMENT ON FUNCTION :schema.pgtaskd_stop_next_:hash() IS 'Stops the repetition of a task that was to be stopped (:version)';

COMMENT ON FUNCTION :schema.pgtaskd_own_:hash() IS 'Refuses a change of its own row by a task that runs (:version)';

COMMENT ON TABLE :table IS 'Tasks: SQL to run, and what came of it (:version)';

COMMENT ON COLUMN :table.id IS 'Number of the task';

COMMENT ON COLUMN :table.parent IS 'The task whose SQL, or whose repetition, inserted this one';

COMMENT ON COLUMN :table.plan IS 'Planned start; infinity: waits until someone plans it';

COMMENT ON COLUMN :table.start IS 'Actual start of the last run';

COMMENT ON COLUMN :table.stop IS 'Actual end of the last run';

COMMENT ON COLUMN :table.active IS 'After plan + active a task that has never started is not worth running any more; 0: always worth it';

COMMENT ON COLUMN :table.live IS 'How long a session may take further tasks of its lane; 0: see count';

COMMENT ON COLUMN :table.repeat IS 'Period at which the task repeats itself; 0: not';

COMMENT ON COLUMN :table.timeout IS 'Longest that its SQL may run, to the millisecond; 0: what the server or the role says';

COMMENT ON COLUMN :table.count IS 'How many tasks a session may run before it is closed; 0: see live';

COMMENT ON COLUMN :table.max IS 'May start while at most so many tasks of its lane run; below 0: one at a time, with a pause of so many milliseconds between tasks';

COMMENT ON COLUMN :table.hash IS 'Hash of the lane, as pg_task has it';

COMMENT ON COLUMN :table.pid IS 'Backend that runs or ran it';

COMMENT ON COLUMN :table.state IS 'PLAN, WORK, DONE, FAIL, GONE or STOP; set to STOP it must not run, set to PLAN it runs (again)';

COMMENT ON COLUMN :table.delete IS 'Delete the row when it ends with neither output nor error';

COMMENT ON COLUMN :table.drift IS 'Count the next repetition, or pause, from the end of the run and not from its plan';

COMMENT ON COLUMN :table.header IS 'A header line in the output of a result with more than one column';

COMMENT ON COLUMN :table.save IS 'Keep session state, such as temporary tables, from one task of a session to the next';

COMMENT ON COLUMN :table.string IS 'Quote only strings, when quote is set';

COMMENT ON COLUMN :table.delimiter IS 'Between the values of a line of output';

COMMENT ON COLUMN :table.escape IS 'Before quote and escape inside a quoted value; empty: none';

COMMENT ON COLUMN :table.quote IS 'Around values of output; empty: none';

COMMENT ON COLUMN :table.data IS 'The user''s own; the running task reads it as the setting pg_task.data';

COMMENT ON COLUMN :table.error IS 'Error text of the last run';

COMMENT ON COLUMN :table."group" IS 'Name of the lane; tasks of one group and remote count towards each other''s max';

COMMENT ON COLUMN :table.input IS 'The SQL: any statements that a client could send';

COMMENT ON COLUMN :table."null" IS 'How NULL is shown in output';

COMMENT ON COLUMN :table.output IS 'Results';

COMMENT ON COLUMN :table.remote IS 'Connection string, or configured name, of the database in which to run; null: this one';

COMMENT ON COLUMN :table.created IS 'When the row was inserted; null: before this column was there';

COMMENT ON COLUMN :table.author IS 'Role that inserted the row; null: before this column was there';

COMMENT ON COLUMN :table.sqlstate IS 'Code of the last error';

COMMENT ON COLUMN :table.attempt IS 'Runs so far';

COMMENT ON COLUMN :table.interrupted IS 'Runs that were cut off, by a crash or a lost backend';

COMMENT ON COLUMN :table.rerun IS 'Whether a run that was cut off may be repeated; false: it fails';

COMMENT ON COLUMN :table.origin IS 'The beat from which repetitions count, so that the 31st stays the 31st; with cron, where the next beat is still to be found, that before it';
COMMENT ON COLUMN :table.base IS 'The beat''s own time, when something has moved plan';

COMMENT ON COLUMN :table.stopping IS 'true: it was set to STOP when it was taken or ran, and its end is not written yet; of one that has ended it means nothing';

COMMENT ON COLUMN :table.next IS 'The repetition that this task has given rise to';

COMMENT ON COLUMN :table.cron IS 'When the task repeats itself: five fields, or six with seconds, or @daily and its like';

COMMENT ON COLUMN :table.until IS 'No repetition is planned after this';

COMMENT ON COLUMN :table.priority IS 'Higher goes first';

COMMENT ON COLUMN :table.retry IS 'Further tries after a failure';

COMMENT ON COLUMN :table.backoff IS 'Delay before the first further try; it doubles';

COMMENT ON COLUMN :table.catchup IS 'How many of the beats that were missed are run, the newest ones; the others are passed over';

COMMENT ON COLUMN :table.skipped IS 'Beats that were passed over between the task''s parent and it';

COMMENT ON COLUMN :table.overlap IS 'Whether the repetition is planned when the task starts, not when it ends';

COMMENT ON COLUMN :table.failures IS 'FAILs in a row in the chain before this task';

COMMENT ON COLUMN :table.max_failures IS 'After so many FAILs in a row the repetition is paused; 0: never';

COMMENT ON COLUMN :table.after IS 'Tasks that must have ended well first';

COMMENT ON COLUMN :table.awaits IS 'The one of after that the task waits for now';

COMMENT ON COLUMN :table.freed IS 'When the last task of after had ended; infinity while it waits for one';

COMMENT ON COLUMN :table.met IS 'What created said of each task of after when the leader first looked; null: there was none';

COMMENT ON COLUMN :table.awaited IS 'What created said of the task in awaits, by which that is told from another one with its id';

COMMENT ON COLUMN :table.key IS 'Name of a job, of which at most one task waits';

COMMENT ON COLUMN :table.owner IS 'Whose file has named this job: see pgtaskd apply';

COMMENT ON COLUMN :table.on_fail IS 'SQL of the task that is inserted when this one has failed for good, or is given up';

COMMENT ON COLUMN :table.notify IS 'Channel that is told of the end';

COMMENT ON COLUMN :table.settings IS 'Settings of the session for this task alone, as an object';

COMMENT ON COLUMN :table.notice IS 'Notices and warnings of the last run';

COMMENT ON COLUMN :table.runs IS 'Earlier runs of this row, the last 20';

COMMENT ON COLUMN :table.atomic IS 'true: the effects of the run and its end commit together; false: it may have had effects although it was cut off; null: not started';

COMMENT ON COLUMN :table.wait_key IS 'key while the task waits, for ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL';

COMMENT ON COLUMN :table.due IS 'plan, or freed if that is later, until the task has ended; infinity while it waits for another one; before all others while its next beat or what it waits for is still to be found';

COMMENT ON INDEX :schema.pgtaskd_open_:hash IS 'Finds what is due, when the next task will be, and what is to be stopped';

COMMENT ON INDEX :schema.pgtaskd_awaited_:hash IS 'Finds who waits for a task that has ended';

COMMENT ON INDEX :schema.pgtaskd_wait_key_:hash IS 'At most one waiting task per key';

COMMENT ON TRIGGER pgtaskd_accept ON :table IS 'Keeps plan and the intervals within bounds, and wakes the leader, if it sleeps, for new tasks';

COMMENT ON PUBLICATION pgtaskd_:hash IS 'Shows the leader new tasks in the write-ahead log (:version)';

COMMENT ON TRIGGER pgtaskd_update ON :table IS 'Wakes the leader for a waiting task that may start at another time';

COMMENT ON TRIGGER pgtaskd_delete ON :table IS 'Wakes the leader for a running task that is gone';

COMMENT ON TRIGGER pgtaskd_state ON :table IS 'An ended task can not be stopped, but its repetition can; wakes the leader for a task that waits again, or must stop';

COMMENT ON TRIGGER pgtaskd_stop_next ON :table IS 'Stops the repetitions of ended tasks that were to be stopped';

COMMENT ON TRIGGER pgtaskd_own ON :table IS 'A task that runs can not change its own row';
