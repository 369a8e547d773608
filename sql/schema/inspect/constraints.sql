SELECT c.conname::text
FROM pg_constraint AS c
WHERE c.conrelid = $1::int8::oid;
