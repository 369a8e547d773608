-- Whether all is done but for the repetitions, which are a year away.
SELECT NOT EXISTS (SELECT FROM task WHERE state IN ('TAKE', 'WORK') OR state = 'PLAN' AND plan < now() + interval '1 day' OR stopping)
