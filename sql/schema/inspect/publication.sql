-- Ours, by name: by what number it shows the inserts into the table, all of them; 0 if it does not.
-- $1 name, $2 table
SELECT coalesce(
        (
            SELECT r.oid::int8
            FROM pg_publication_rel AS r
            WHERE r.prpubid = p.oid
                AND r.prrelid = $2::int8::oid
                AND p.pubinsert
                AND to_jsonb(r) ->> 'prqual' IS NULL -- since 15
        ),
        0
    )
FROM pg_publication AS p
WHERE p.pubname = $1;
