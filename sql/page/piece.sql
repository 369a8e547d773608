-- A piece of a text in UTF-8, the length of the whole, and the version of the row. The text is read
-- once, and its bytes are counted: to count characters, the server must look at all before them.
-- $1 id, $2 bytes before the piece, $3 most bytes of it
SELECT
    substr(w.bytes, $2::int4 + 1, $3::int4) AS text,
    coalesce(octet_length(w.bytes), -1) AS whole,
    w.version
FROM (
    SELECT textsend(t.:column::text) AS bytes, t.xmin::text AS version
    FROM :table AS t
    WHERE t.id = $1::int8
    LIMIT 1
) AS w
