-- The functions that the tasks of TestPromises call.

CREATE TABLE effect (id int8);

CREATE FUNCTION effect() RETURNS bool LANGUAGE sql AS $$
    INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8) RETURNING true
$$;

-- Where a first run waits to be cut off.
CREATE FUNCTION hold() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(CASE current_setting('pg_task.attempt', true) WHEN '1' THEN 60 ELSE 0 END);
    RETURN 0;
END
$$;

CREATE FUNCTION hidden(name text) RETURNS int8 LANGUAGE sql AS $$
    SELECT nextval(name)
$$;

CREATE PROCEDURE whole() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM effect();
    PERFORM hold();
END
$$;

CREATE PROCEDURE in_two() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM effect();
    COMMIT;
    PERFORM effect();
    PERFORM hold();
END
$$;

-- Not immutable at all, but an index must believe it.
CREATE FUNCTION held(id int4) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT public.hold() + id
$$;

CREATE TABLE held (id int4);
INSERT INTO held VALUES (1);
CREATE INDEX ON held (held(id));

-- Not the same, or VACUUM and CREATE INDEX CONCURRENTLY may wait for each other.
CREATE TABLE indexed (id int4);
INSERT INTO indexed VALUES (1);

CREATE EXTENSION dblink;
CREATE EXTENSION postgres_fdw;
CREATE FUNCTION self() RETURNS text LANGUAGE sql AS $$
    SELECT format('host=%s port=%s dbname=%s', current_setting('unix_socket_directories'), current_setting('port'), current_database())
$$;
DO $$
BEGIN
    EXECUTE format('CREATE SERVER self FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
        current_setting('unix_socket_directories'), current_setting('port'), current_database());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER self OPTIONS (user 'postgres');
CREATE FOREIGN TABLE there (id int8) SERVER self OPTIONS (table_name 'effect');
