-- What a version before has made, and nothing needs any more.
DROP TRIGGER IF EXISTS pgtaskd_own ON :table;
DROP TABLE IF EXISTS :schema.pgtaskd_token_:hash;
DROP FUNCTION IF EXISTS :schema.pgtaskd_accept_:hash, :schema.pgtaskd_wake_:hash, :schema.pgtaskd_state_:hash, :schema.pgtaskd_stop_next_:hash,
    :schema.pgtaskd_own_:hash, :schema.pgtaskd_cron_:hash, :schema.pgtaskd_after_:hash, :schema.pgtaskd_group_note_:hash, :schema.pgtaskd_group_tell_:hash,
    :schema.pgtaskd_schedule_:hash, :schema.pgtaskd_run_:hash, :schema.pgtaskd_stat_:hash, :schema.pgtaskd_error_:hash, :schema.pgtaskd_async_columns_:hash,
    :schema.pgtaskd_async_default_:hash, :schema.pgtaskd_async_insert_:hash, :schema.pgtaskd_async_shown_:hash, :schema.pgtaskd_async_unset_:hash,
    :schema.pgtaskd_async_usual_:hash, :schema.pgtaskd_end_:hash, :schema.pgtaskd_token_:hash;
DROP DOMAIN IF EXISTS :schema.pgtaskd_call_:hash;
