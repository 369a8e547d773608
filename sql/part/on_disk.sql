-- True: the transaction waits for the disk as it commits, where the session's do not now. Its
-- synchronous_commit may change whenever the server is reloaded, so it is looked at each time; what is
-- more than off stays as it is.
CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) IS NOT NULL ELSE true END
