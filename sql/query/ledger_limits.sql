-- Settings of a round of the ledger. It waits only briefly for a lock, since the run that waits for
-- the round may hold it. Preparations need not be on disk when they are answered, unless $2 is
-- flush.
-- $1 lock timeout, $2 lazy, usual, or flush
SELECT
    set_config('lock_timeout', $1, true),
    CASE
        WHEN $2::text = 'lazy' THEN set_config('synchronous_commit', 'off', true)
        WHEN set_config('synchronous_commit', NULL, true) = 'off' AND $2 = 'flush' THEN set_config('synchronous_commit', 'on', true)
    END
