-- Ours, by name; by what number it shows the inserts into the table, all of them: 0 if it does not;
-- and its owner, quoted, where that is nobody who is trusted.
-- $1 name, $2 table, $3 trusted roles
SELECT coalesce(
        (
            SELECT r.oid::pg_catalog.int8
            FROM pg_catalog.pg_publication_rel AS r
            WHERE r.prpubid OPERATOR(pg_catalog.=) p.oid
                AND r.prrelid OPERATOR(pg_catalog.=) $2::pg_catalog.int8::pg_catalog.oid
                AND p.pubinsert
                AND pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'prqual' IS NULL -- since 15
        ),
        0
    ),
    CASE WHEN p.pubowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[]) THEN ''
        ELSE :readable(pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(p.pubowner))) END
FROM pg_catalog.pg_publication AS p
WHERE p.pubname OPERATOR(pg_catalog.=) $1;
