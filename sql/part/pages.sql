-- Whether the row t lies on one of $3 pages, beginning with page $2.
(
    t.ctid >= concat('(', $2::int8, ',0)')::tid
    AND t.ctid < concat('(', ($2 + $3::int8), ',0)')::tid
)
