-- The schema, and in it the type of a task's state. Where this name is taken by somebody's own
-- type, another is chosen.

CREATE SCHEMA IF NOT EXISTS :schema;

CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
COMMENT ON TYPE :state IS 'State of a task: waits, taken, runs, ended well, failed, given up, stopped';
