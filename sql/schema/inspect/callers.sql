-- Tables that have triggers which call the function, those of others first, and not all: a trigger is
-- found by what it depends on, since pg_trigger has no index by function.
-- $1 the function, $2 those who are trusted
SELECT :readable(format('%I.%I', n.nspname, c.relname))
FROM pg_depend AS d
JOIN pg_trigger AS t ON t.oid = d.objid
JOIN pg_class AS c ON c.oid = t.tgrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE d.refclassid = 'pg_proc'::regclass
    AND d.refobjid = $1::int8::oid
    AND d.classid = 'pg_trigger'::regclass
GROUP BY n.nspname, c.relname, c.relowner
ORDER BY c.relowner::int8 = ANY ($2::int8[]), n.nspname, c.relname
LIMIT 11
