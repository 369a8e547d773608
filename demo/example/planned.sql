-- Planned: not before three seconds have passed.
INSERT INTO task ("group", plan, input)
VALUES ('in 3 s', now() + '3 s', $$SELECT 'three seconds later'$$)
RETURNING id
