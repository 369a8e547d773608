-- The schema, and the type of a task's state in it. If somebody's own type has this name, another
-- name is used.

CREATE SCHEMA IF NOT EXISTS :schema;

CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
COMMENT ON TYPE :state IS 'State of a task';
