-- A table as the extension pg_task makes it, with tasks in it.
CREATE SCHEMA tasks;
CREATE TYPE tasks.state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'STOP');
CREATE TABLE tasks.task (
    id bigserial NOT NULL PRIMARY KEY,
    parent bigint DEFAULT nullif((current_setting('pg_task.id'::text))::bigint, 0),
    plan timestamptz NOT NULL DEFAULT statement_timestamp(),
    start timestamptz,
    stop timestamptz,
    active interval NOT NULL DEFAULT (current_setting('pg_task.active'::text))::interval CHECK (active >= '0 sec'::interval),
    live interval NOT NULL DEFAULT (current_setting('pg_task.live'::text))::interval CHECK (live >= '0 sec'::interval),
    repeat interval NOT NULL DEFAULT (current_setting('pg_task.repeat'::text))::interval CHECK (repeat >= '0 sec'::interval),
    timeout interval NOT NULL DEFAULT (current_setting('pg_task.timeout'::text))::interval CHECK (timeout >= '0 sec'::interval),
    count int NOT NULL DEFAULT (current_setting('pg_task.count'::text))::integer CHECK (count >= 0),
    hash int NOT NULL GENERATED ALWAYS AS (hashtext("group" || coalesce(remote, ''))) STORED,
    max int NOT NULL DEFAULT (current_setting('pg_task.max'::text))::integer,
    pid int,
    state tasks.state NOT NULL DEFAULT 'PLAN'::tasks.state,
    delete boolean NOT NULL DEFAULT (current_setting('pg_task.delete'::text))::boolean,
    drift boolean NOT NULL DEFAULT (current_setting('pg_task.drift'::text))::boolean,
    header boolean NOT NULL DEFAULT (current_setting('pg_task.header'::text))::boolean,
    string boolean NOT NULL DEFAULT (current_setting('pg_task.string'::text))::boolean,
    delimiter "char" NOT NULL DEFAULT (current_setting('pg_task.delimiter'::text))::"char",
    escape "char" NOT NULL DEFAULT (current_setting('pg_task.escape'::text))::"char",
    quote "char" NOT NULL DEFAULT (current_setting('pg_task.quote'::text))::"char",
    data text,
    error text,
    "group" text NOT NULL DEFAULT current_setting('pg_task.group'::text),
    input text NOT NULL,
    "null" text NOT NULL DEFAULT current_setting('pg_task.null'::text),
    output text,
    remote text
);
COMMENT ON TABLE tasks.task IS 'Tasks';
COMMENT ON COLUMN tasks.task.id IS 'Primary key';
CREATE INDEX task_state_idx ON tasks.task USING btree (state);
INSERT INTO tasks.task (parent, active, live, repeat, timeout, count, max, delete, drift, header, string, delimiter, escape, quote,
    "group", input, "null")
SELECT NULL, '1 hour', '0', '0', '0', 0, 0, true, false, true, true, E'\t', '', '', 'group', 'SELECT ' || i, '\N'
FROM generate_series(1, 3) AS i;
