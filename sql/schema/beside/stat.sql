-- The newest 100,000 ids, by group and state.
DROP VIEW IF EXISTS :its_stat;
DROP FUNCTION IF EXISTS :schema.pgtaskd_stat_:hash(:schema.pgtaskd_call_:hash);
CREATE FUNCTION :schema.pgtaskd_stat_:hash(here :schema.pgtaskd_call_:hash) RETURNS TABLE (
    "group" pg_catalog.text, state pg_catalog.text, count pg_catalog.int8,
    waiting_avg pg_catalog.interval, waiting_p50 pg_catalog.interval, waiting_p95 pg_catalog.interval, waiting_max pg_catalog.interval,
    running_avg pg_catalog.interval, running_p50 pg_catalog.interval, running_p95 pg_catalog.interval, running_max pg_catalog.interval,
    last_error pg_catalog.text
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $body$
BEGIN
    :stands
    RETURN QUERY
    SELECT s."group", s.state, s.count,
        pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.waited), pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.waits[1]), pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.waits[2]),
        pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.longest_wait),
        pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.ran), pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.runs[1]), pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.runs[2]),
        pg_catalog.make_interval(0, 0, 0, 0, 0, 0, s.longest_run),
        (SELECT pg_catalog.split_part(e.error, E'\n', 1) FROM :table AS e WHERE e.id OPERATOR(pg_catalog.=) s.failed)
    FROM (
        SELECT n."group", n.state, pg_catalog.count(*) AS count, pg_catalog.max(n.failed) AS failed,
            pg_catalog.avg(n.waiting) AS waited, pg_catalog.percentile_cont('{0.5,0.95}'::pg_catalog.float8[]) WITHIN GROUP (ORDER BY n.waiting) AS waits, pg_catalog.max(n.waiting) AS longest_wait,
            pg_catalog.avg(n.running) AS ran, pg_catalog.percentile_cont('{0.5,0.95}'::pg_catalog.float8[]) WITHIN GROUP (ORDER BY n.running) AS runs, pg_catalog.max(n.running) AS longest_run
        FROM (
            SELECT t."group"::pg_catalog.text AS "group", t.state::pg_catalog.text AS state, CASE WHEN t.error IS NOT NULL THEN t.id END AS failed,
                CASE WHEN pg_catalog.isfinite(t.plan) THEN greatest(0, pg_catalog.date_part('epoch', coalesce(t.start, t.stop, pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.-) greatest(t.plan, CASE WHEN pg_catalog.isfinite(t.freed) THEN t.freed END))) END AS waiting,
                greatest(0, pg_catalog.date_part('epoch', coalesce(t.stop, pg_catalog.statement_timestamp()) OPERATOR(pg_catalog.-) t.start)) AS running
            FROM :table AS t
            ORDER BY t.id DESC
            LIMIT 100000
        ) AS n
        GROUP BY n."group", n.state
    ) AS s;
END
$body$;
CREATE VIEW :its_stat AS SELECT s."group", s.state, s.count, s.waiting_avg, s.waiting_p50, s.waiting_p95, s.waiting_max, s.running_avg, s.running_p50, s.running_p95, s.running_max, s.last_error
    FROM :schema.pgtaskd_stat_:hash((NULL:::schema.pgtaskd_call_:hash[])[1]) AS s;
COMMENT ON FUNCTION :schema.pgtaskd_stat_:hash(:schema.pgtaskd_call_:hash) IS 'What the view shows';
COMMENT ON VIEW :its_stat IS 'How long tasks waited and ran, by group and state, among the newest 100,000 ids (:made)';
