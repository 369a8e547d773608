-- The same for servers before 14, which read a range of places only with all that comes before it.
t.ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
    SELECT pg_catalog.concat('(', page, ',', line, ')')::pg_catalog.tid
    FROM pg_catalog.generate_series($2::pg_catalog.int8, $2 OPERATOR(pg_catalog.+) $3::pg_catalog.int8 OPERATOR(pg_catalog.-) 1) AS page
    CROSS JOIN pg_catalog.generate_series(1, :lines) AS line
))
