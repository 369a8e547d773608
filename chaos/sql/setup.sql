-- What tasks write, one row a run.
CREATE TABLE effect (
    id int8 NOT NULL,
    attempt int4 NOT NULL,
    pid int4 NOT NULL DEFAULT pg_backend_pid(),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX ON effect (id);

-- The tasks there must be, inserted together with them.
CREATE TABLE planned (id int8 PRIMARY KEY);

CREATE FUNCTION leave_effect () RETURNS text
LANGUAGE sql
BEGIN ATOMIC
    INSERT INTO effect (id, attempt)
    VALUES (current_setting('pg_task.id')::int8, current_setting('pg_task.attempt')::int4)
    RETURNING 'left';
END;

-- Columns of the test's own. promise is of the effect: exactly, least or most (once); null: there is none.
ALTER TABLE task
    ADD promise text,
    ADD chain bool NOT NULL DEFAULT false;
