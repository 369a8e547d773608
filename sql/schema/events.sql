-- What the trigger functions for asynchronous triggers share. They run as the owner of the table of
-- tasks.

-- Gives settings these values until the end of the transaction, and returns those that had others:
-- a task of a trigger has the defaults of its table, whatever the writer has set.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_settings(given jsonb DEFAULT '{"group": "group", "active": "1 hour", "live": "0", "repeat": "0", "timeout": "0", "count": "0",
    "max": "0", "delete": "true", "drift": "false", "header": "true", "save": "false", "string": "true", "delimiter": "\t", "escape": "", "quote": "", "null": "\\N",
    "remote": "", "rerun": "true", "priority": "0", "retry": "0", "backoff": "1 min"}') RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(s.name, s.was) FILTER (WHERE set_config(concat('pg_task.', s.name), s.value, true) IS NOT NULL)
        FROM (SELECT e.key AS name, e.value, current_setting(concat('pg_task.', e.key), true) AS was FROM jsonb_each_text(given) AS e OFFSET 0) AS s
        WHERE s.was <> s.value
    );
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_async_settings IS 'Sets what defaults look at, and returns what it was (:version)';

-- Inserts a task with the columns that a trigger's arguments name, and returns what is wrong with
-- these. Each %s stands for the column of the changed row that follows. Where another task waits
-- with the key, that one gets the newer data.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async(tasks regclass, arguments text[], relation regclass, changed json, event text) RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n int4 := 2;
    named text; value text; pieces text[]; piece text;
    names text[] := '{}'; texts text[] := '{}';
BEGIN
    WHILE n <= cardinality(arguments) LOOP
        named := split_part(arguments[n], '=', 1);
        pieces := string_to_array(substr(arguments[n], length(named) + 2), '%s'); value := coalesce(pieces[1], '');
        IF named = '' OR named = arguments[n] THEN
            RETURN concat('argument ', n, ' is no column=value, and no %s before it asks for it');
        ELSIF cardinality(pieces) > 1 AND changed IS NULL THEN
            RETURN concat('argument ', n, ' has a %s, which a trigger FOR EACH STATEMENT can not have: it has many rows');
        END IF;
        FOREACH piece IN ARRAY pieces[2:] LOOP
            n := n + 1;
            IF n > cardinality(arguments) THEN
                RETURN concat('no argument follows for a %s of column ', quote_ident(named));
            ELSIF NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attname = arguments[n] AND a.attnum > 0) THEN
                RETURN concat('table ', relation, ' has no column ', quote_ident(arguments[n]), ', which argument ', n, ' names');
            END IF;
            value := concat(value, changed ->> arguments[n], piece);
        END LOOP;
        names := array_append(names, named); texts := array_append(texts, value); n := n + 1;
    END LOOP;
    EXECUTE concat((
        SELECT format('INSERT INTO %s (input, data%s) VALUES ($1, $2%s)', tasks, string_agg(format(', %I', v.name), ''), string_agg(format(', %L', v.value), ''))
        FROM unnest(names, texts) AS v (name, value)
    ), CASE WHEN 'key' = ANY (names) AND EXISTS (SELECT FROM pg_class AS c WHERE c.oid = tasks AND c.relkind = 'r')
        THEN ' ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET data = EXCLUDED.data' END) USING arguments[1], event;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_async IS 'Inserts the task of a trigger (:version)';
