-- Whether an error of a row of ours names a unique index on id, of the table's or of a part's.
-- $1 name of the constraint, '' where there is none, $2 a text with the index's name, in the
-- server's language
WITH RECURSIVE parts AS (
    SELECT :table_number::pg_catalog.oid AS part
    UNION
    SELECT i.inhrelid
    FROM parts AS p
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.part
)
SELECT EXISTS (
    SELECT
    FROM parts AS p
    JOIN pg_catalog.pg_index AS i ON i.indrelid OPERATOR(pg_catalog.=) p.part
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid
        AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0]
    WHERE i.indisunique
        AND a.attname OPERATOR(pg_catalog.=) 'id'
        AND (
            c.relname OPERATOR(pg_catalog.=) $1::pg_catalog.name
            OR pg_catalog.strpos($2::pg_catalog.text, c.relname::pg_catalog.text) OPERATOR(pg_catalog.>) 0
        )
)
