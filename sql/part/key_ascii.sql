-- The same in a database whose encoding is not UTF-8: a character that UTF-8 does not have would be
-- an error of the whole statement. So it is a hash of whatever is not ASCII, or has a backslash,
-- too; the beginning is escaped.
CASE
        WHEN pg_catalog.octet_length(:column) OPERATOR(pg_catalog.>) 65536 THEN pg_catalog.concat(pg_catalog.chr(1), pg_catalog.octet_length(:column))
        WHEN pg_catalog.octet_length(:column) OPERATOR(pg_catalog.>) 1000
            OR pg_catalog.octet_length(pg_catalog.encode(pg_catalog.convert_to(:column, pg_catalog.getdatabaseencoding()), 'escape'))
                OPERATOR(pg_catalog.<>) pg_catalog.octet_length(:column)
            THEN pg_catalog.concat(pg_catalog.chr(1),
                pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(:column, pg_catalog.getdatabaseencoding())), 'hex'),
                pg_catalog.left(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.left(:column, 100), pg_catalog.getdatabaseencoding()), 'escape'), 400))
        ELSE :column
    END
