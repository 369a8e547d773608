-- What a version before has made under names with the table's hash, beside what is in the way (earlier.sql).
DROP TABLE IF EXISTS :schema.pgtaskd_session_:hash, :schema.pgtaskd_token_:hash;
DROP SEQUENCE IF EXISTS :schema.pgtaskd_group_:hash;
DROP INDEX IF EXISTS :schema.pgtaskd_open_:hash, :schema.pgtaskd_wait_key_:hash, :schema.pgtaskd_after_:hash, :schema.pgtaskd_awaited_:hash,
    :schema.pgtaskd_repeating_:hash, :schema.pgtaskd_id_:hash;
DROP FUNCTION IF EXISTS :schema.pgtaskd_accept_:hash, :schema.pgtaskd_wake_:hash, :schema.pgtaskd_state_:hash, :schema.pgtaskd_stop_next_:hash,
    :schema.pgtaskd_role_:hash, :schema.pgtaskd_group_note_:hash, :schema.pgtaskd_group_tell_:hash CASCADE;
