-- What tells a group or remote from others, in the memory of pgtaskd. Of a long one it is a hash
-- behind a character of code 1, with the beginning of the name behind that, and of one that no
-- INSERT should have let in, its length. All others take one comparison: a million may be read.
CASE
        WHEN pg_catalog.octet_length(:column) OPERATOR(pg_catalog.>) 1000 THEN pg_catalog.concat(pg_catalog.chr(1), CASE
            WHEN pg_catalog.octet_length(:column) OPERATOR(pg_catalog.>) 65536 THEN pg_catalog.octet_length(:column)::pg_catalog.text
            ELSE pg_catalog.concat(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(:column, pg_catalog.getdatabaseencoding())), 'hex'), pg_catalog.left(:column, 100))
        END)
        ELSE :column
    END
