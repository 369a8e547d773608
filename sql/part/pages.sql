-- The row t lies on one of $3 pages from page $2 on.
(
    t.ctid OPERATOR(pg_catalog.>=) pg_catalog.concat('(', $2::pg_catalog.int8, ',0)')::pg_catalog.tid
    AND t.ctid OPERATOR(pg_catalog.<) pg_catalog.concat('(', ($2 OPERATOR(pg_catalog.+) $3::pg_catalog.int8), ',0)')::pg_catalog.tid
)
