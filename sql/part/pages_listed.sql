-- The same for servers before 14: they cannot read a range of ctids without all pages before it.
t.ctid = ANY (ARRAY(
    SELECT concat('(', page, ',', line, ')')::tid
    FROM generate_series($2::int8, $2 + $3::int8 - 1) AS page
    CROSS JOIN generate_series(1, (current_setting('block_size')::int4 - 24) / 28) AS line -- most rows of a page
))
