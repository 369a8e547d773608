-- Functions that the trigger functions of asynchronous triggers share. They run as the owner of the
-- table of tasks.

-- Sets settings until the end of the transaction, and returns the former values of those that
-- differed: a trigger's task gets the defaults of its table, whatever the writer has set.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_settings(given jsonb DEFAULT '{"group":"","active":"","live":"","repeat":"","timeout":"","count":"","max":"","delete":"","drift":"","header":"",
    "save":"","string":"","delimiter":"","escape":"","quote":"","null":"\\N","format":"","remote":"","rerun":"","priority":"","retry":"","backoff":""}') RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(s.name, s.was) FILTER (WHERE set_config(concat('pg_task.', s.name), s.value, true) IS NOT NULL)
        FROM (SELECT e.key AS name, e.value, current_setting(concat('pg_task.', e.key), true) AS was FROM jsonb_each_text(given) AS e OFFSET 0) AS s
        WHERE s.was <> s.value
    );
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_async_settings IS 'Sets what defaults read (:version)';

-- Inserts a task with the columns that a trigger's arguments name, and returns what is wrong with
-- them. Each %s stands for a column of the changed row; the next argument names it. If another task
-- waits with the key, it gets the newer data instead.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async(tasks regclass, arguments text[], relation regclass, changed json, event text) RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n int4 := 2;
    named text; value text; pieces text[];
    columns text; texts text; conflict text;
BEGIN
    WHILE n <= cardinality(arguments) LOOP
        named := split_part(arguments[n], '=', 1);
        IF named IN ('', arguments[n]) THEN RETURN concat('argument ', n, ' is no column=value'); END IF;
        pieces := string_to_array(substr(arguments[n], length(named) + 2), '%s');
        value := pieces[1];
        FOR i IN 2 .. cardinality(pieces) LOOP
            n := n + 1;
            IF changed -> arguments[n] IS NULL THEN
                RETURN concat('each %s of column ', quote_ident(named), ' needs the name of a column of ', relation, ' as the next argument, and a trigger FOR EACH ROW');
            END IF;
            value := concat(value, changed ->> arguments[n], pieces[i]);
        END LOOP;
        columns := concat(columns, ', ', quote_ident(named)); texts := concat(texts, ', ', quote_literal(coalesce(value, '')));
        IF named = 'key' THEN conflict := ' ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET data = EXCLUDED.data'; END IF;
        n := n + 1;
    END LOOP;
    EXECUTE format('INSERT INTO %s (input, data%s) VALUES ($1, $2%s)%s', tasks, columns, texts, conflict) USING arguments[1], event;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_async IS 'Inserts the task of a trigger (:version)';
