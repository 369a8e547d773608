-- Each run of a task writes a row here.
CREATE TABLE effect (
    id int8 NOT NULL,
    attempt int4 NOT NULL,
    pid int4 NOT NULL DEFAULT pg_backend_pid(),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX ON effect (id);

CREATE FUNCTION leave_effect () RETURNS text
LANGUAGE sql
AS $$
    INSERT INTO effect (id, attempt)
    VALUES (current_setting('pg_task.id')::int8, current_setting('pg_task.attempt')::int4)
    RETURNING 'left';
$$;
