-- Why a task waits. The function is not called where it has come to be another one since the
-- statement was read, or before: of somebody who is not trusted.
-- $1 id, $2 trusted roles
SELECT coalesce(CASE WHEN EXISTS (
    SELECT
    FROM pg_proc AS p
    JOIN pg_class AS c ON has_type_privilege(c.relowner, p.prorettype, 'USAGE') -- else it would refuse
        AND c.oid = to_regclass(:name)::oid
    WHERE p.oid = to_regprocedure(:why_text)::oid
        AND p.proowner::int8 = ANY ($2::int8[])
) THEN :why(t.id)::text END, '')
FROM :table AS t -- an id that is a constant would have the planner call the function
WHERE t.id = $1::int8
LIMIT 1
