-- The errors of the newest 100,000 ids.
DROP VIEW IF EXISTS :its_error;
DROP FUNCTION IF EXISTS :schema.pgtaskd_error_:hash(:schema.pgtaskd_call_:hash);
CREATE FUNCTION :schema.pgtaskd_error_:hash(here :schema.pgtaskd_call_:hash) RETURNS TABLE (
    sqlstate pg_catalog.text, error pg_catalog.text, count pg_catalog.int8, first pg_catalog.timestamptz, last pg_catalog.timestamptz, example pg_catalog.int8
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $body$
BEGIN
    :stands
    RETURN QUERY
    SELECT e.sqlstate, e.error, pg_catalog.count(*), pg_catalog.min(e.at), pg_catalog.max(e.at), pg_catalog.max(e.id)
    FROM (
        SELECT t.sqlstate::pg_catalog.text AS sqlstate, pg_catalog.split_part(t.error, E'\n', 1) AS error, t.id::pg_catalog.int8 AS id,
            coalesce(t.stop, (t.runs OPERATOR(pg_catalog.->) (-1) OPERATOR(pg_catalog.->>) 'stop'::pg_catalog.text)::pg_catalog.timestamptz, t.plan) AS at
        FROM :table AS t
        ORDER BY t.id DESC
        LIMIT 100000
    ) AS e
    WHERE e.error IS NOT NULL
    GROUP BY e.sqlstate, e.error;
END
$body$;
CREATE VIEW :its_error AS SELECT e.sqlstate, e.error, e.count, e.first, e.last, e.example FROM :schema.pgtaskd_error_:hash((NULL:::schema.pgtaskd_call_:hash[])[1]) AS e;
COMMENT ON FUNCTION :schema.pgtaskd_error_:hash(:schema.pgtaskd_call_:hash) IS 'What the view shows';
COMMENT ON VIEW :its_error IS 'Errors by SQLSTATE and first line, among the newest 100,000 ids (:made)';
