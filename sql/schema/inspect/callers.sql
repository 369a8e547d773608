-- Tables that have triggers which call the function, those of others first, and not all: a trigger is
-- found by what it depends on, since pg_trigger has no index by function.
-- $1 the function, $2 those who are trusted
SELECT :readable(pg_catalog.format('%I.%I', n.nspname, c.relname))
FROM pg_catalog.pg_depend AS d
JOIN pg_catalog.pg_trigger AS t ON t.oid OPERATOR(pg_catalog.=) d.objid
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
    AND d.refobjid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid
    AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_trigger'::pg_catalog.regclass
GROUP BY n.nspname, c.relname, c.relowner
ORDER BY c.relowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[]), n.nspname, c.relname
LIMIT 11
