-- What runs, among the rows that are due first. Like each view, it has its text from a function, so
-- that nobody's ALTER of the table meets it.
DROP VIEW IF EXISTS :its_run;
DROP FUNCTION IF EXISTS :schema.pgtaskd_run_:hash(:schema.pgtaskd_call_:hash);
CREATE FUNCTION :schema.pgtaskd_run_:hash(here :schema.pgtaskd_call_:hash) RETURNS TABLE (
    id pg_catalog.int8, "group" pg_catalog.text, key pg_catalog.text, since pg_catalog.timestamptz, pid pg_catalog.int4, wait_event pg_catalog.text, blocked_by pg_catalog.int4[],
    query pg_catalog.text
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $body$
BEGIN
    :stands
    RETURN QUERY
    SELECT t.id::pg_catalog.int8, t."group"::pg_catalog.text, t.key::pg_catalog.text, t.start::pg_catalog.timestamptz, t.pid::pg_catalog.int4, a.wait_event,
        CASE WHEN t.remote IS NULL AND pg_catalog.cardinality(b.pids) OPERATOR(pg_catalog.>) 0 THEN b.pids END,
        CASE WHEN a.query OPERATOR(pg_catalog.<>) '<insufficient privilege>' THEN a.query END
    FROM (
        SELECT h.id, h."group", h.key, h.start, h.pid, h.state, h.remote
        FROM :table AS h
        WHERE h.due IS NOT NULL AND h.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
        ORDER BY h.due, h.id
        LIMIT 50000
    ) AS t
    LEFT JOIN LATERAL (
        SELECT s.wait_event, s.query
        FROM pg_catalog.pg_stat_get_activity(t.pid::pg_catalog.int4) AS s
        WHERE t.remote IS NULL AND s.backend_start OPERATOR(pg_catalog.<=) t.start
    ) AS a ON true
    CROSS JOIN LATERAL (SELECT pg_catalog.pg_blocking_pids(t.pid::pg_catalog.int4) AS pids) AS b
    WHERE t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}');
END
$body$;
CREATE VIEW :its_run AS SELECT r.id, r."group", r.key, r.since, r.pid, r.wait_event, r.blocked_by, r.query FROM :schema.pgtaskd_run_:hash((NULL:::schema.pgtaskd_call_:hash[])[1]) AS r;
COMMENT ON FUNCTION :schema.pgtaskd_run_:hash(:schema.pgtaskd_call_:hash) IS 'What the view shows';
COMMENT ON VIEW :its_run IS 'Tasks that run (:made)';
