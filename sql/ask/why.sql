-- Why a task waits. The function is not called where it has come to be another one since the
-- statement was read, or before: of somebody who is not trusted.
-- $1 id, $2 trusted roles
SELECT coalesce(CASE WHEN EXISTS (
    SELECT
    FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_class AS c ON pg_catalog.has_type_privilege(c.relowner, p.prorettype, 'USAGE') -- else it would refuse
        AND c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:name)::pg_catalog.oid
    WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(:why_text)::pg_catalog.oid
        AND p.proowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[])
) THEN :why(t.id)::pg_catalog.text END, '')
FROM :table AS t -- an id that is a constant would have the planner call the function
WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
LIMIT 1
