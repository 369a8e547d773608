-- Ids of all tasks that must exist, inserted together with the tasks.
CREATE TABLE planned (id int8 PRIMARY KEY);

-- Tasks whose rows were prepared when the remote failed over.
CREATE TABLE in_flight (id int8 NOT NULL);

-- Columns only for the test. promise tells how often the effect may happen: exactly, least or most
-- (once); null: no effect.
ALTER TABLE task
    ADD promise text,
    ADD chain bool NOT NULL DEFAULT false;
