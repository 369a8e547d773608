-- What the function of async.sql calls. Each is called with exactly the types of its arguments,
-- so that nobody's function of the same name fits better.
DO $body$
DECLARE
    place pg_catalog.text := pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_');
    call pg_catalog.text := pg_catalog.concat(place, 'call_:hash');
    functions pg_catalog.text[] := ARRAY[
        pg_catalog.concat(place, 'async_columns_:hash(', call, ')'),
        pg_catalog.concat(place, 'async_unset_:hash(', call, ')'),
        pg_catalog.concat(place, 'async_default_:hash(', call, ')'),
        pg_catalog.concat(place, 'async_usual_:hash(', call, ')'),
        pg_catalog.concat(place, 'async_shown_:hash(pg_catalog.oid, ', call, ')'),
        pg_catalog.concat(place, 'async_insert_:hash(', call, ', pg_catalog.text, pg_catalog.text[], pg_catalog.text[], pg_catalog.text[])')
    ];
    called pg_catalog.text;
BEGIN
    :make_way
END
$body$;

-- The columns whose defaults look at settings, in the order of the INSERT of async.sql.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_columns_:hash(:schema.pgtaskd_call_:hash) RETURNS pg_catalog.text[]
    LANGUAGE sql IMMUTABLE SECURITY INVOKER AS $body$
    SELECT '{group,active,live,repeat,timeout,count,max,delete,drift,header,save,string,delimiter,escape,quote,"null",remote,
        rerun,priority,retry,backoff}'::pg_catalog.text[]
$body$;

-- The default of a column as if its setting were not set; NULL where it has none, or an expression
-- of somebody's own.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_unset_:hash(wanted :schema.pgtaskd_call_:hash) RETURNS pg_catalog.text
    LANGUAGE plpgsql STABLE SECURITY INVOKER SET quote_all_identifiers = off AS $body$
DECLARE
    tree pg_catalog.text;
    expression pg_catalog.text;
    setting pg_catalog.text := pg_catalog.concat('current_setting(''pg_task.', wanted, '''::text, true)');
BEGIN
    SELECT pg_catalog.left(d.adbin::pg_catalog.text, 6), pg_catalog.pg_get_expr(d.adbin, d.adrelid) INTO tree,
        expression
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) a.attrelid
        AND d.adnum OPERATOR(pg_catalog.=) a.attnum
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
    JOIN pg_catalog.pg_type AS y ON y.typnamespace OPERATOR(pg_catalog.=) c.relnamespace AND y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(wanted)::pg_catalog.oid
    WHERE a.attrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid
        AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user -- the expression is run
        AND a.attname OPERATOR(pg_catalog.=) wanted::pg_catalog.name;
    IF tree OPERATOR(pg_catalog.=) '{CONST' OR pg_catalog.strpos(expression, setting) OPERATOR(pg_catalog.>) 0 THEN
        RETURN pg_catalog.replace(expression, setting, 'NULL::text');
    END IF;
    RETURN NULL;
END
$body$;

-- The same as a value. It is called immutable, so that the server evaluates it once, when it plans
-- that INSERT; an ALTER of the table has that planned again.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_default_:hash(wanted :schema.pgtaskd_call_:hash) RETURNS pg_catalog.text
LANGUAGE plpgsql IMMUTABLE SECURITY INVOKER AS $body$
DECLARE
    result pg_catalog.text;
BEGIN
    EXECUTE pg_catalog.concat('SELECT (', coalesce(:schema.pgtaskd_async_unset_:hash(wanted), 'NULL'),
        ')::pg_catalog.text') INTO result;
    RETURN result;
END
$body$;

-- Whether that INSERT does: no default is somebody's own.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_usual_:hash(:schema.pgtaskd_call_:hash) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE SECURITY INVOKER AS $body$
    SELECT pg_catalog.count(*) OPERATOR(pg_catalog.=) 1
    FROM pg_catalog.pg_class AS c
    WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.atthasdef
                AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) ANY (:schema.pgtaskd_async_columns_:hash('':::schema.pgtaskd_call_:hash))
                AND :schema.pgtaskd_async_unset_:hash(a.attname:::schema.pgtaskd_call_:hash) IS NULL
        )
$body$;

-- The columns of a changed table as JSON takes them, where a cast of somebody's to json could be
-- called: what has to do with a type of theirs is shown as text. NULL where there is no such type.
-- A domain is looked through, and so is an array.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_shown_:hash(relation pg_catalog.oid, place :schema.pgtaskd_call_:hash)
    RETURNS pg_catalog.text
LANGUAGE sql STABLE SECURITY INVOKER AS $body$
    WITH RECURSIVE part AS (
        SELECT a.attnum AS number, a.atttypid AS type
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid OPERATOR(pg_catalog.=) relation AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
            AND NOT a.attisdropped
        UNION
        SELECT p.number, i.type
        FROM part AS p
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) p.type
        CROSS JOIN LATERAL (
            SELECT t.typbasetype AS type WHERE t.typtype OPERATOR(pg_catalog.=) 'd'
            UNION ALL
            SELECT t.typelem WHERE t.typlen OPERATOR(pg_catalog.=) (-1)::pg_catalog.int2
            UNION ALL
            SELECT a.atttypid
            FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid OPERATOR(pg_catalog.=) t.typrelid AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
                AND NOT a.attisdropped
        ) AS i
    ), other AS (
        SELECT p.number
        FROM part AS p
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) p.type
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) t.typowner
        WHERE t.typtype OPERATOR(pg_catalog.<>) 'd' AND (t.typelem OPERATOR(pg_catalog.=) 0::pg_catalog.oid
            OR t.typlen OPERATOR(pg_catalog.<>) (-1)::pg_catalog.int2)
            AND (NOT o.rolsuper AND o.rolname OPERATOR(pg_catalog.<>) current_user OR :changed_t)
        GROUP BY p.number
    )
    SELECT CASE WHEN pg_catalog.count(o.number) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.string_agg(pg_catalog.concat(
        CASE
            WHEN o.number IS NULL THEN v.value
            ELSE pg_catalog.concat('CASE WHEN pg_catalog.num_nulls(', v.value,
                ') OPERATOR(pg_catalog.=) 0 THEN pg_catalog.format(''%s'', ', v.value, ')',
                CASE WHEN t.typcategory OPERATOR(pg_catalog.=) 'A' THEN '::pg_catalog.text[]' END, ' END')
        END, ' AS ', pg_catalog.quote_ident(a.attname)), ', ' ORDER BY a.attnum) END
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
    CROSS JOIN LATERAL (SELECT pg_catalog.concat(place, '.', pg_catalog.quote_ident(a.attname)) AS value) AS v
    LEFT JOIN other AS o ON o.number OPERATOR(pg_catalog.=) a.attnum
    WHERE a.attrelid OPERATOR(pg_catalog.=) relation AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
        AND NOT a.attisdropped
$body$;

-- Inserts a task that sets other columns as well, or into a table with other defaults: the values
-- of the columns above, and names with values of others. It returns what is wrong with them, if
-- anything.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_async_insert_:hash(
    input :schema.pgtaskd_call_:hash, data pg_catalog.text, given pg_catalog.text[], names pg_catalog.text[],
        texts pg_catalog.text[]
) RETURNS pg_catalog.text LANGUAGE plpgsql VOLATILE SECURITY INVOKER AS $body$
DECLARE
    task pg_catalog.oid := pg_catalog.to_regclass(:table_text)::pg_catalog.oid;
    keeper pg_catalog.oid;
    sharers pg_catalog.oid[];
    parts pg_catalog.oid[] := '{}';
    dated pg_catalog.bool; -- the transaction sees all as it was when it began
    whole pg_catalog.bool; -- all functions that are called are there
    listed pg_catalog.oid[];
    changed pg_catalog.bool;
    wrong pg_catalog.text;
    statement pg_catalog.text;
BEGIN
    SELECT CASE
        WHEN a.attname IS NULL THEN pg_catalog.concat('table ', task::pg_catalog.regclass, ' has no column ',
            pg_catalog.quote_ident(n.name))
        ELSE pg_catalog.concat('column ', pg_catalog.quote_ident(n.name), ' of table ',
            task::pg_catalog.regclass, ' cannot be set by a trigger')
    END
    INTO wrong
    FROM pg_catalog.unnest(names) AS n (name)
    LEFT JOIN pg_catalog.pg_attribute AS a
        ON a.attrelid OPERATOR(pg_catalog.=) task AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) n.name
            AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
    WHERE a.attname IS NULL OR a.attgenerated OPERATOR(pg_catalog.<>) ''
        OR n.name OPERATOR(pg_catalog.=) ANY ('{id,parent,start,stop,pid,state,data,error,input,output,
        created,author,sqlstate,attempt,interrupted,base,next,skipped,failures,owner,role,notice,runs,origin,atomic,stopping}'::pg_catalog.text[])
    LIMIT 1;
    IF wrong IS NOT NULL THEN
        RETURN wrong;
    END IF;
    -- Where another task waits with the key, that one gets the newer data.
    SELECT pg_catalog.concat(' (input, data',
        pg_catalog.string_agg(pg_catalog.concat(', ', pg_catalog.quote_ident(v.name)), '' ORDER BY v.name),
        ') VALUES ($1, $2', pg_catalog.string_agg(pg_catalog.concat(', ', v.value), '' ORDER BY v.name), ')',
        CASE WHEN pg_catalog.count(CASE WHEN v.name OPERATOR(pg_catalog.=) 'key' THEN 1 END) OPERATOR(pg_catalog.>) 0
            AND c.relkind OPERATOR(pg_catalog.<>) 'p'
            THEN ' ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET data = EXCLUDED.data' END)
    INTO statement
    FROM pg_catalog.pg_class AS c
    CROSS JOIN LATERAL (
        SELECT n.name, pg_catalog.format('%L', n.value) AS value
        FROM ROWS FROM (pg_catalog.unnest(names), pg_catalog.unnest(texts)) AS n (name, value)
        UNION ALL
        SELECT u.name, CASE WHEN given[u.place] IS NULL THEN :schema.pgtaskd_async_unset_:hash(u.name:::schema.pgtaskd_call_:hash)
            ELSE pg_catalog.format('%L', given[u.place]) END
        FROM pg_catalog.unnest(:schema.pgtaskd_async_columns_:hash('':::schema.pgtaskd_call_:hash)) WITH ORDINALITY AS u (name, place)
    ) AS v
    WHERE c.oid OPERATOR(pg_catalog.=) task AND v.value IS NOT NULL
    GROUP BY c.relkind;
    :firm
    IF wrong IS NOT NULL THEN
        RETURN wrong;
    END IF;
    EXECUTE pg_catalog.concat('INSERT INTO ', task::pg_catalog.regclass, statement) USING input, data; -- as it is called at this moment
    RETURN NULL;
END
$body$;
