-- The key of a group or remote, which tells it from others in the memory of pgtaskd. The key of a long
-- one is a character of code 1, a hash, and the beginning of the name; of one that no INSERT should
-- have let in, also its length. All others take one comparison: a million may be read.
CASE
        WHEN octet_length(:column) > 1000 THEN concat(chr(1), CASE
            WHEN octet_length(:column) > 65536 THEN octet_length(:column)::text
            ELSE concat(encode(sha256(convert_to(:column, getdatabaseencoding())), 'hex'), left(:column, 100))
        END)
        ELSE :column
    END
