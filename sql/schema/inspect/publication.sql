-- Ours, by name; whether it shows the inserts into the table.
SELECT p.pubinsert AND EXISTS (
        SELECT
        FROM pg_catalog.pg_publication_rel AS r
        WHERE r.prpubid = p.oid AND r.prrelid = $2::pg_catalog.int8::pg_catalog.oid
    )
FROM pg_catalog.pg_publication AS p
WHERE p.pubname = $1;
