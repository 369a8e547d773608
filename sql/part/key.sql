-- What tells a group or remote from others, in the memory of pgtaskd. Of a long one it is a hash
-- behind a character of code 1, with the beginning of the name behind that, and of one that no
-- INSERT should have let in, its length. All others take one comparison: a million may be read.
CASE
        WHEN octet_length(:column) > 1000 THEN concat(chr(1), CASE
            WHEN octet_length(:column) > 65536 THEN octet_length(:column)::text
            ELSE concat(encode(sha256(convert_to(:column, getdatabaseencoding())), 'hex'), left(:column, 100))
        END)
        ELSE :column
    END
