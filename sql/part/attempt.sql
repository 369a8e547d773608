-- How often the task t has been run, with the run that leaves PLAN now: a mark has counted one that
-- is marked.
CASE WHEN t.state = 'PLAN' THEN least(t.attempt, 2147483646) + 1 ELSE t.attempt END
