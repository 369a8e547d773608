-- Writes the row of a controller. Where it leads, no other one does; those that have not been seen
-- for a day go.
-- $1 controller, $2 whether it leads, $3 host, $4 pid, $5 version, $6 most tasks at once, $7 time
-- zone
WITH gone AS (
    DELETE FROM :leader AS l
    WHERE l.seen OPERATOR(pg_catalog.<) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)
        AND l.controller OPERATOR(pg_catalog.<>) $1::pg_catalog.text
), former AS (
    UPDATE :leader AS l
    SET leads = false, since = pg_catalog.statement_timestamp()
    WHERE l.leads
        AND $2::pg_catalog.bool
        AND l.controller OPERATOR(pg_catalog.<>) $1::pg_catalog.text
        AND l.seen OPERATOR(pg_catalog.>=) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval)
)
INSERT INTO :leader AS l (controller, leads, since, seen, host, pid, version, run, timezone)
VALUES ($1::pg_catalog.text, $2::pg_catalog.bool, pg_catalog.statement_timestamp(), pg_catalog.statement_timestamp(), $3::pg_catalog.text,
    $4::pg_catalog.int4, $5::pg_catalog.text, $6::pg_catalog.int4, $7::pg_catalog.text)
ON CONFLICT (controller) DO UPDATE
SET leads = excluded.leads, seen = excluded.seen, host = excluded.host, pid = excluded.pid, version = excluded.version, run = excluded.run,
    timezone = excluded.timezone,
    since = CASE WHEN l.leads OPERATOR(pg_catalog.=) excluded.leads THEN l.since ELSE excluded.since END
