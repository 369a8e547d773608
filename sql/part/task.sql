t.id,
    textin(enum_out(t.state)),
    t."group",
    coalesce(t.key, ''),
    t.plan::text,
    coalesce(t.start::text, ''),
    coalesce(t.stop::text, ''),
    coalesce(date_part('epoch', coalesce(t.stop, clock_timestamp()) - t.start), -1),
    t.attempt,
    coalesce(t.pid, 0),
    coalesce(t.sqlstate, ''),
    "left"(t.input, 400),
    t.output IS NOT NULL,
    coalesce("left"(t.output, 400), ''),
    -- the same from the first row of values on: several columns have a header
    coalesce("left"(substr("left"(t.output, 10000), CASE
        WHEN t.header AND strpos(split_part("left"(t.output, 10000), E'\n', 1), t.delimiter::text) > 0
            THEN strpos("left"(t.output, 10000), E'\n')
        ELSE 0
    END + 1), 400), ''),
    coalesce("left"(t.error, 400), ''),
    coalesce("left"(t.notice, 4000), ''),
    coalesce(t.next, 0)
