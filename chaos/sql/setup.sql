-- Ids of all tasks that must exist, inserted together with the tasks.
CREATE TABLE planned (id int8 PRIMARY KEY);

<<<<<<< HEAD
-- Tasks whose rows were prepared when the remote failed over.
CREATE TABLE in_flight (id int8 NOT NULL);
=======
CREATE FUNCTION leave_effect () RETURNS text
LANGUAGE sql
AS $$
    INSERT INTO effect (id, attempt)
    VALUES (current_setting('pg_task.id')::int8, current_setting('pg_task.attempt')::int4)
    RETURNING 'left';
$$;
>>>>>>> deddd96a (Old and new majors: DDL of partitioned tables for 12, hints with SET, plans without statistics on 18)

-- Columns only for the test. promise tells how often the effect may happen: exactly, least or most
-- (once); null: no effect.
ALTER TABLE task
    ADD promise text,
    ADD chain bool NOT NULL DEFAULT false;
