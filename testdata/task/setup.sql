-- The objects of the tasks, in the schema golden.

CREATE TABLE golden.effect (who text, what text);
CREATE TABLE golden.one (id int PRIMARY KEY);
INSERT INTO golden.one VALUES (1);
CREATE TABLE golden.deferred (id int REFERENCES golden.one DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE golden.vacuumed (id int);
CREATE TABLE golden.indexed (id int); -- a table of its own: CONCURRENTLY and VACUUM may wait for each other
CREATE SEQUENCE golden.raised;

CREATE TABLE golden.wide (a int, b text, c bool, d numeric, e bytea, f int[]);
INSERT INTO golden.wide VALUES (1, 'one', true, 1.50, '\x00ff', '{1,NULL,3}'), (2, NULL, NULL, NULL, NULL, NULL);

CREATE FUNCTION golden.broken(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RETURN 1 / n;
END
$$;

CREATE FUNCTION golden.hello(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'hello %', name;
END
$$;

CREATE PROCEDURE golden.in_two(who text) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO golden.effect VALUES (who, 'first');
    COMMIT;
    INSERT INTO golden.effect VALUES (who, 'second');
END
$$;

CREATE PROCEDURE golden.in_two_and_fail(who text) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO golden.effect VALUES (who, 'first');
    COMMIT;
    INSERT INTO golden.effect VALUES (who, 'second');
    PERFORM 1 / 0;
END
$$;

CREATE ROLE golden_low;
