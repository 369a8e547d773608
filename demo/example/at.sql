-- At a time: when the seconds of the clock are next at 0, 10, 20 …
INSERT INTO task ("group", plan, input)
VALUES (
    'on the 10 s',
    to_timestamp(ceil(extract(epoch FROM now()) / 10) * 10),
    $$SELECT to_char(now(), 'HH24:MI:SS.MS')$$
)
RETURNING id
