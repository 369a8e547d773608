SELECT c.conname::pg_catalog.text
FROM pg_catalog.pg_constraint AS c
WHERE c.conrelid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid;
