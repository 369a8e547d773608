-- True: the transaction waits for the disk as it commits, even if the session's do not. Its
-- synchronous_commit may change whenever the server is reloaded, so it is looked at each time; a value
-- other than off stays as it is.
CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) IS NOT NULL ELSE true END
