-- Settings of a round of the ledger: it waits for no lock for long, since the run that waits for it
-- may have that lock. Preparations need not be on the disk when they are answered; with flush they are.
-- $1 how long it waits, $2 lazy, usual, or flush
SELECT
    set_config('lock_timeout', $1, true),
    CASE
        WHEN $2::text = 'lazy' THEN set_config('synchronous_commit', 'off', true)
        WHEN set_config('synchronous_commit', NULL, true) = 'off' AND $2 = 'flush' THEN set_config('synchronous_commit', 'on', true)
    END
