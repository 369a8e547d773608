-- What a version before has made keeps its rows, and gets its name.
ALTER INDEX IF EXISTS :schema.pgtaskd_open_:hash RENAME TO :index_open;
ALTER INDEX IF EXISTS :schema.pgtaskd_wait_key_:hash RENAME TO :index_wait_key;
ALTER INDEX IF EXISTS :schema.pgtaskd_after_:hash RENAME TO :index_after;
ALTER INDEX IF EXISTS :schema.pgtaskd_awaited_:hash RENAME TO :index_awaited;
ALTER INDEX IF EXISTS :schema.pgtaskd_repeating_:hash RENAME TO :index_repeating;
ALTER TABLE IF EXISTS :schema.pgtaskd_session_:hash RENAME TO :bare_session;
ALTER SEQUENCE IF EXISTS :schema.pgtaskd_group_:hash RENAME TO :bare_group_changes;
