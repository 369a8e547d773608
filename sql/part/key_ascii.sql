-- The same in a database whose encoding is not UTF-8. A character that UTF-8 lacks would make the
-- whole statement fail. So names that are not ASCII, or contain a backslash, also get a hash, and
-- their beginning is escaped.
CASE
        WHEN octet_length(:column) > 65536 THEN concat(chr(1), octet_length(:column))
        WHEN octet_length(:column) > 1000
            OR octet_length(encode(convert_to(:column, getdatabaseencoding()), 'escape'))
                <> octet_length(:column)
            THEN concat(chr(1),
                encode(sha256(convert_to(:column, getdatabaseencoding())), 'hex'),
                left(encode(convert_to(left(:column, 100), getdatabaseencoding()), 'escape'), 400))
        ELSE :column
    END
