-- Tasks and pgbench insert rows into this table.
CREATE TABLE effect (n int4);

-- pgbench updates these rows; they have the columns and indexes of tasks, without the triggers.
CREATE TABLE peer (LIKE task INCLUDING ALL) WITH (fillfactor = 50);

-- Makes tasks quickly: copies of an existing task with new ids and plans, without triggers or
-- defaults.
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
