-- The functions that the tasks of tasks.sql call.

CREATE TABLE effect (id int8, who text);

CREATE FUNCTION effect(who text) RETURNS bool LANGUAGE sql AS $$
    INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8, who) RETURNING true
$$;

-- Fails when another task of the lane is at work.
CREATE FUNCTION alone() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext(current_setting('pg_task.group'))) THEN
        RAISE 'two tasks of a lane run at once';
    END IF;
END
$$;
