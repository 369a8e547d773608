SELECT conname::pg_catalog.text
FROM pg_catalog.pg_constraint
WHERE conrelid = $1::pg_catalog.int8::pg_catalog.oid;
