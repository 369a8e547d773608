-- The key of a group or remote: pgtaskd tells them apart in memory by it. A name of over 1000 bytes
-- becomes the character 1, a hash, and the beginning of the name; one of over 64 kB, which no
-- INSERT should have let in, the character 1 and its length. All other names cost one comparison: a
-- scan may read a million.
CASE
        WHEN octet_length(:column) > 1000 THEN concat(chr(1), CASE
            WHEN octet_length(:column) > 65536 THEN octet_length(:column)::text
            ELSE concat(encode(sha256(convert_to(:column, getdatabaseencoding())), 'hex'), left(:column, 100))
        END)
        ELSE :column
    END
