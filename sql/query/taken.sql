-- Whether an error of a row of ours names a unique index on id, of the table's or of a part's.
-- $1 name of the constraint, '' where there is none, $2 a text with the index's name, in the
-- server's language
WITH RECURSIVE parts AS (
    SELECT :table_number::oid AS part
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_inherits AS i ON i.inhparent = p.part
)
SELECT EXISTS (
    SELECT
    FROM parts AS p
    JOIN pg_index AS i ON i.indrelid = p.part
    JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid
        AND a.attnum = i.indkey[0]
    WHERE i.indisunique
        AND a.attname = 'id'
        AND (
            c.relname = $1::name
            OR strpos($2::text, c.relname::text) > 0
        )
)
