-- Repeats itself on the beat, until its waiting repetition is stopped or deleted.
INSERT INTO task ("group", plan, repeat, input)
VALUES ('every 2 s', date_trunc('second', now()), '2 s', $$SELECT to_char(now(), 'HH24:MI:SS.MS')$$)
RETURNING id
