-- Work that leaves a trace, and a function that puts a body in the place of each statement that is prepared in the session.
CREATE TABLE own.effect (id int8);

CREATE FUNCTION own.work() RETURNS int LANGUAGE sql AS $f$
    INSERT INTO own.effect VALUES (current_setting('pg_task.id')::int8) RETURNING 1
$f$;

CREATE FUNCTION own.swap(body text) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE
    s record;
    n int := 0;
BEGIN
    PERFORM set_config('my.own', 'left', false);
    CREATE TEMP TABLE IF NOT EXISTS mine (id int);
    FOR s IN SELECT name, parameter_types::text[] AS types FROM pg_prepared_statements LOOP
        EXECUTE format('DEALLOCATE %I', s.name);
        IF body <> '' THEN
            EXECUTE format('PREPARE %I %s AS %s', s.name, CASE WHEN s.types <> '{}' THEN '(' || array_to_string(s.types, ', ') || ')' END, body);
        END IF;
        n := n + 1;
    END LOOP;
    RETURN n;
END
$f$;
