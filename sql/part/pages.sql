-- The row t lies on one of $3 pages from page $2 on.
(
    t.ctid >= concat('(', $2::int8, ',0)')::tid
    AND t.ctid < concat('(', ($2 + $3::int8), ',0)')::tid
)
