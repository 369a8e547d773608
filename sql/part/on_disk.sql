-- Makes this transaction wait for the disk when it commits, even if synchronous_commit is off;
-- always true. A reload may change synchronous_commit at any time, so this reads it each time.
-- Other values than off stay.
CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) IS NOT NULL ELSE true END
