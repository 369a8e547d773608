-- What repeats, a row for each chain: its task that waits, is paused, or runs. The last run is that
-- of the row itself, or of the one before it.
DROP VIEW IF EXISTS :its_schedule;
DROP FUNCTION IF EXISTS :schema.pgtaskd_schedule_:hash(:schema.pgtaskd_call_:hash);
DROP FUNCTION IF EXISTS :schema.pgtaskd_zone_:hash(:schema.pgtaskd_call_:hash); -- of an earlier version
CREATE FUNCTION :schema.pgtaskd_schedule_:hash(here :schema.pgtaskd_call_:hash) RETURNS TABLE (
    key pg_catalog.text, chain pg_catalog.int8, expression pg_catalog.text, zone pg_catalog.text, next_run pg_catalog.timestamptz, last_start pg_catalog.timestamptz,
    last_end pg_catalog.timestamptz, state pg_catalog.text, error pg_catalog.text, failures pg_catalog.int4, skipped pg_catalog.int4, given_up_after pg_catalog.timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $body$
DECLARE
    clock pg_catalog.text; -- zone of the controller that leads, which is waited for before the look
BEGIN
    BEGIN
        IF
            :leaders
        THEN
            EXECUTE pg_catalog.format('SELECT l.timezone FROM %s AS l ORDER BY l.leads DESC, l.seen DESC LIMIT 1', :its_leader_text) INTO clock;
        END IF;
    EXCEPTION
        WHEN undefined_table OR undefined_column OR insufficient_privilege OR wrong_object_type THEN NULL;
    END;
    :stands
    RETURN QUERY
    SELECT t.key::pg_catalog.text, t.id::pg_catalog.int8,
        coalesce(pg_catalog.regexp_replace(t.cron, '^ *(?:CRON_)?TZ=[^ ]+ +', ''), t.repeat::pg_catalog.text),
        coalesce((pg_catalog.regexp_match(t.cron, '^ *(?:CRON_)?TZ=([^ ]+) '))[1], z.zone),
        w.next_run,
        coalesce(CASE WHEN w.runs THEN t.start::pg_catalog.timestamptz END, (r.last OPERATOR(pg_catalog.->>) 'start'::pg_catalog.text)::pg_catalog.timestamptz, p.start),
        CASE WHEN NOT w.runs THEN coalesce((r.last OPERATOR(pg_catalog.->>) 'stop'::pg_catalog.text)::pg_catalog.timestamptz, p.stop) END,
        CASE WHEN w.runs OR t.state OPERATOR(pg_catalog.=) 'STOP' THEN t.state::pg_catalog.text
            ELSE coalesce(r.last OPERATOR(pg_catalog.->>) 'state'::pg_catalog.text, p.state::pg_catalog.text, t.state::pg_catalog.text) END,
        CASE WHEN NOT w.runs THEN coalesce(t.error::pg_catalog.text, p.error::pg_catalog.text) END,
        t.failures::pg_catalog.int4, t.skipped::pg_catalog.int4,
        CASE WHEN t.active OPERATOR(pg_catalog.>) '0' AND t.max OPERATOR(pg_catalog.>=) 0 AND t.catchup OPERATOR(pg_catalog.=) 0 AND t.attempt OPERATOR(pg_catalog.=) 0
            AND w.next_run OPERATOR(pg_catalog.<) 'infinity' THEN coalesce(t.base, t.plan) OPERATOR(pg_catalog.+) t.active END
    FROM :table AS t
    CROSS JOIN LATERAL (
        SELECT t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}') OR t.stopping IS TRUE AS runs,
            CASE WHEN t.state OPERATOR(pg_catalog.=) 'PLAN' AND (t.cron IS NULL OR t.origin IS NULL) THEN t.plan END AS next_run
    ) AS w
    CROSS JOIN LATERAL (SELECT CASE WHEN t.attempt OPERATOR(pg_catalog.>) 0 THEN t.runs OPERATOR(pg_catalog.->) (-1) END AS last) AS r
    LEFT JOIN :table AS p ON p.id OPERATOR(pg_catalog.=) t.parent AND p.next OPERATOR(pg_catalog.=) t.id
    CROSS JOIN (SELECT clock AS zone) AS z
    WHERE t.stop IS NULL
        AND (t.repeat OPERATOR(pg_catalog.>) '0' OR t.cron IS NOT NULL)
        AND (t.next IS NULL OR NOT EXISTS (SELECT FROM :table AS n WHERE n.id OPERATOR(pg_catalog.=) t.next AND n.stop IS NULL));
END
$body$;
CREATE VIEW :its_schedule AS SELECT s.key, s.chain, s.expression, s.zone, s.next_run, s.last_start, s.last_end, s.state, s.error, s.failures, s.skipped, s.given_up_after
    FROM :schema.pgtaskd_schedule_:hash((NULL:::schema.pgtaskd_call_:hash[])[1]) AS s;
COMMENT ON FUNCTION :schema.pgtaskd_schedule_:hash(:schema.pgtaskd_call_:hash) IS 'What the view shows';
COMMENT ON VIEW :its_schedule IS 'What repeats: when it runs next, and how it ran last (:made)';
