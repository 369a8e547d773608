-- True: the transaction waits for the disk as it commits, where the session's do not now. Its
-- synchronous_commit may change whenever the server is reloaded, so it is looked at each time; what is
-- more than off stays as it is.
CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'
    THEN pg_catalog.set_config('synchronous_commit', 'on', true) IS NOT NULL ELSE true END
