-- How often the task t has run, with the present run. The mark has already counted a run that is
-- marked; a run that leaves PLAN now is not counted yet.
CASE WHEN t.state = 'PLAN' THEN least(t.attempt, 2147483646) + 1 ELSE t.attempt END
