-- Writes the row of a controller. If it leads, no other row leads afterwards. Deletes rows that
-- have not been updated for a day.
-- $1 controller, $2 whether it leads, $3 host, $4 pid, $5 version, $6 most tasks at once, $7 time
-- zone
WITH gone AS (
    DELETE FROM :leader AS l
    WHERE l.seen < (statement_timestamp() - '1 day'::interval)
        AND l.controller <> $1::text
), former AS (
    UPDATE :leader AS l
    SET leads = false, since = statement_timestamp()
    WHERE l.leads
        AND $2::bool
        AND l.controller <> $1::text
        AND l.seen >= (statement_timestamp() - '1 day'::interval)
)
INSERT INTO :leader AS l (controller, leads, since, seen, host, pid, version, run, timezone)
VALUES ($1::text, $2::bool, statement_timestamp(), statement_timestamp(), $3::text,
    $4::int4, $5::text, $6::int4, $7::text)
ON CONFLICT (controller) DO UPDATE
SET leads = excluded.leads, seen = excluded.seen, host = excluded.host, pid = excluded.pid, version = excluded.version, run = excluded.run,
    timezone = excluded.timezone,
    since = CASE WHEN l.leads = excluded.leads THEN l.since ELSE excluded.since END
