-- Tells whether the series of a job is over: its until has passed, or the last row of the key has
-- the same beats and no further run.
-- $1 until, $2 key, $3 cron, $4 repeat
SELECT $1::text::timestamptz < statement_timestamp() OR coalesce(
    (
        SELECT t.stop IS NOT NULL
            AND t.next IS NULL
            AND t.state <> 'STOP'
            AND t.until = $1::text::timestamptz
            AND t.cron IS NOT DISTINCT FROM $3::text
            AND t.repeat = $4::text::interval
        FROM :table AS t
        WHERE t.key = $2
        ORDER BY t.id DESC
        LIMIT 1
    ),
    false
)
