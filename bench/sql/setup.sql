-- What tasks, and pgbench, insert.
CREATE TABLE effect (n int4);

-- What pgbench updates: rows and indexes as those of tasks, without the triggers.
CREATE TABLE peer (LIKE task INCLUDING ALL) WITH (fillfactor = 50);

-- Makes tasks in no time: copies of one that is there, with ids and plans of their own, without any trigger or default.
CREATE FUNCTION multiply(template int8, copies int4, lanes int4, first timestamptz, step interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    names text;
    sources text;
BEGIN
    SELECT
        string_agg(quote_ident(attname), ', ' ORDER BY attnum),
        string_agg(CASE attname
            WHEN 'id' THEN format('nextval(%L::regclass)', pg_get_serial_sequence('task', 'id'))
            WHEN 'plan' THEN '$4 + i * $5'
            WHEN 'group' THEN 'CASE WHEN $3 = 1 THEN t."group" ELSE ''lane '' || i % $3 END'
            ELSE 't.' || quote_ident(attname)
        END, ', ' ORDER BY attnum)
    INTO names, sources
    FROM pg_attribute
    WHERE attrelid = 'task'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
    SET LOCAL session_replication_role = replica;
    EXECUTE format('INSERT INTO task (%s) SELECT %s FROM task AS t, generate_series(1, $2) AS i WHERE t.id = $1', names, sources)
        USING template, copies, lanes, first, step;
END
$$;

-- Work for many targets: the tables task_1, task_2 and so on.

CREATE FUNCTION spread_empty(targets int4) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT 'TRUNCATE ' || string_agg('task_' || i, ', ') FROM generate_series(1, targets) AS i);
END
$$;

CREATE FUNCTION spread(targets int4, max int4, tasks int4) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..targets LOOP
        EXECUTE format('INSERT INTO task_%s (input, max) SELECT ''SELECT 1'', $1 FROM generate_series(1, $2)', i) USING max, tasks;
    END LOOP;
END
$$;

CREATE FUNCTION spread_ended(targets int4) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    waits bool;
BEGIN
    FOR i IN 1..targets LOOP
        EXECUTE format('SELECT coalesce((SELECT due IS NOT NULL FROM task_%1$s ORDER BY id DESC LIMIT 1), false)
            OR EXISTS (SELECT FROM task_%1$s WHERE due IS NOT NULL)', i) INTO waits;
        IF waits THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

-- How many tasks ended as they should, and how long after the first start that was seen, but for the first ones of each table.
CREATE FUNCTION spread_took(targets int4, first int4, seen timestamptz, OUT good int8, OUT took interval) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (
        SELECT format('SELECT count(*) FILTER (WHERE state = ''DONE'' AND output = ''1'' AND error IS NULL), $2 - min(start) FROM (%s) AS t',
            string_agg(format('(SELECT state::text, output, error, start, stop FROM task_%s ORDER BY id OFFSET $1)', i), ' UNION ALL '))
        FROM generate_series(1, targets) AS i
    ) INTO good, took USING first, seen;
END
$$;
