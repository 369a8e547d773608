-- The trigger function that inserts a task for each change of some table, as the owner of the table
-- of tasks. A writer of that other table, its owner, and the owners of its columns' types are
-- others:
-- nothing of theirs is evaluated here, and no setting of the writer's session counts for a task.

-- EXECUTE is for those to whom the owner grants it, not for those whom default privileges name. It
-- is asked for when a trigger is made, so triggers that are there need it no more.
SET LOCAL pgtaskd.function = :its_async_text;
DO $body$
DECLARE
    called pg_catalog.text := pg_catalog.concat(pg_catalog.current_setting('pgtaskd.function'), '()');
    number pg_catalog.oid := pg_catalog.to_regprocedure(called)::pg_catalog.oid;
    made pg_catalog.text[] := ARRAY[called];
    other pg_catalog.text;
    here pg_catalog.text;
BEGIN
    :here
    IF number IS NULL THEN
        EXECUTE pg_catalog.format('CREATE FUNCTION %s RETURNS pg_catalog.trigger LANGUAGE plpgsql AS %L', called,
            'BEGIN RETURN NULL; END');
        number := pg_catalog.to_regprocedure(called)::pg_catalog.oid;
    END IF;
    :ours
    IF
        :sealed_function
    THEN
        RETURN;
    END IF;
    :uncalled
END
$body$;

CREATE OR REPLACE FUNCTION :its_async() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $body$
DECLARE
    usual pg_catalog.bool;
    odd pg_catalog.bool; -- the changed table has types that the server does not come with
    changed pg_catalog.bool;
    keeper pg_catalog.oid; -- who owns the schema,
    sharers pg_catalog.oid[]; -- and partitions: whom there may be no reason to trust
    parts pg_catalog.oid[] := '{}'; -- the partitions,
    dated pg_catalog.bool; -- the transaction sees all as it was when it began
    whole pg_catalog.bool; -- all functions that are called are there
    listed pg_catalog.oid[]; -- and those of the list before
    shown pg_catalog.text; -- columns of the changed table, where not all can be shown as they are
    old_name pg_catalog.name;
    new_name pg_catalog.name;
    old_rows pg_catalog.json;
    new_rows pg_catalog.json;
    event pg_catalog.text;
    given pg_catalog.text[]; -- values for columns of the INSERT below
    names pg_catalog.text[]; -- other columns
    texts pg_catalog.text[]; -- and their values
    n pg_catalog.int4 := 1;
    at pg_catalog.int4;
    place pg_catalog.int4;
    named pg_catalog.text;
    value pg_catalog.text;
    part pg_catalog.text;
    piece pg_catalog.text;
    rest pg_catalog.text[];
    columns pg_catalog.text[]; -- that have a place in given
    task pg_catalog.oid;
    wrong pg_catalog.text;
BEGIN
    :unheld
    -- A column that is newer than what this transaction sees may be of anybody's type.
    SELECT coalesce(pg_catalog.bool_or(a.atttypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid), true), coalesce(pg_catalog.bool_or(:changed_r OR :changed_a), true)
    INTO odd, changed
    FROM pg_catalog.pg_class AS r
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) r.oid
    WHERE r.oid OPERATOR(pg_catalog.=) TG_RELID;
    IF changed THEN
        RAISE EXCEPTION 'table % has been changed since this transaction began', TG_RELID::pg_catalog.regclass USING ERRCODE = 'serialization_failure',
            HINT = 'Begin another transaction.';
    END IF;
    -- The usual trigger takes few expressions, since each is made ready anew in every transaction.
    usual := NOT odd AND TG_LEVEL OPERATOR(pg_catalog.=) 'ROW' AND TG_WHEN OPERATOR(pg_catalog.=) 'AFTER'
        AND TG_NARGS OPERATOR(pg_catalog.=) 3
        AND pg_catalog.left(TG_ARGV[1], 6) OPERATOR(pg_catalog.=) 'group='
        AND pg_catalog.cardinality(pg_catalog.string_to_array(TG_ARGV[1], '%s')) OPERATOR(pg_catalog.=) 2;
    IF usual THEN
        old_rows := pg_catalog.row_to_json(OLD);
        new_rows := pg_catalog.row_to_json(NEW);
        given[1] := pg_catalog.replace(pg_catalog.substr(TG_ARGV[1], 7), '%s',
            coalesce(new_rows, old_rows) OPERATOR(pg_catalog.->>) TG_ARGV[2]);
        usual := given[1] IS NOT NULL;
    END IF;
    -- What is done by a name follows directly on the look: the usual trigger does nothing before the
    -- INSERT.
    IF usual THEN
        n := 3;
    ELSE
        :firm
        IF wrong IS NULL THEN -- no CASE, whose parts are looked up, and may be evaluated, all the same
            columns := :schema.pgtaskd_async_columns_:hash('':::schema.pgtaskd_call_:hash);
        END IF;
    END IF;
    IF wrong IS NOT NULL OR usual THEN
        NULL;
    ELSIF TG_WHEN OPERATOR(pg_catalog.<>) 'AFTER' OR TG_OP OPERATOR(pg_catalog.=) 'TRUNCATE'
        OR TG_NARGS OPERATOR(pg_catalog.=) 0 THEN
        wrong := 'it must be AFTER INSERT, UPDATE or DELETE, and the first argument must be the SQL of its tasks';
    ELSIF odd THEN
        shown := :schema.pgtaskd_async_shown_:hash(TG_RELID,
            CASE WHEN TG_LEVEL OPERATOR(pg_catalog.=) 'ROW' THEN '($1)' ELSE 't' END:::schema.pgtaskd_call_:hash);
    END IF;
    IF wrong IS NOT NULL OR usual THEN
        NULL;
    ELSIF TG_LEVEL OPERATOR(pg_catalog.=) 'STATEMENT' THEN
        SELECT t.tgoldtable, t.tgnewtable INTO old_name, new_name
        FROM pg_catalog.pg_trigger AS t
        WHERE t.tgrelid OPERATOR(pg_catalog.=) TG_RELID AND t.tgname OPERATOR(pg_catalog.=) TG_NAME;
        IF old_name IS NULL AND new_name IS NULL THEN
            wrong := 'a trigger FOR EACH STATEMENT needs REFERENCING NEW TABLE AS a_name, or OLD TABLE';
        ELSIF pg_catalog.to_regclass(pg_catalog.quote_ident(old_name)) IS NOT NULL OR pg_catalog.to_regclass(pg_catalog.quote_ident(new_name)) IS NOT NULL THEN
            -- Where somebody has given the trigger's name to another one meanwhile, that would be read.
            wrong := 'REFERENCING names a table as one of pg_catalog or of the session is named: choose another name';
            old_name := NULL;
            new_name := NULL;
        END IF;
        shown := CASE WHEN shown IS NULL THEN 't.*) FROM %I AS t' ELSE pg_catalog.concat('r.*) FROM (SELECT ',
            pg_catalog.replace(shown, '%', '%%'), ' FROM %I AS t) AS r') END;
        IF old_name IS NOT NULL THEN
            EXECUTE pg_catalog.format(pg_catalog.concat('SELECT pg_catalog.json_agg(', shown), old_name) INTO old_rows;
        END IF;
        IF new_name IS NOT NULL THEN
            EXECUTE pg_catalog.format(pg_catalog.concat('SELECT pg_catalog.json_agg(', shown), new_name) INTO new_rows;
        END IF;
        IF wrong IS NULL AND old_rows IS NULL AND new_rows IS NULL THEN
            RETURN NULL; -- no row has changed
        END IF;
    ELSIF shown IS NULL THEN
        old_rows := pg_catalog.row_to_json(OLD);
        new_rows := pg_catalog.row_to_json(NEW);
    ELSE
        shown := pg_catalog.concat('SELECT pg_catalog.row_to_json(r.*) FROM (SELECT ', shown, ') AS r');
        IF TG_OP OPERATOR(pg_catalog.<>) 'INSERT' THEN
            EXECUTE shown INTO old_rows USING OLD;
        END IF;
        IF TG_OP OPERATOR(pg_catalog.<>) 'DELETE' THEN
            EXECUTE shown INTO new_rows USING NEW;
        END IF;
    END IF;
    event := pg_catalog.concat('{"op": "', TG_OP, '", "table": ',
        pg_catalog.to_json(
            coalesce(pg_catalog.pg_partition_root(TG_RELID)::pg_catalog.oid, TG_RELID)::pg_catalog.regclass::pg_catalog.text),
        ', "old": ', coalesce(old_rows::pg_catalog.text, 'null'),
        ', "new": ', coalesce(new_rows::pg_catalog.text, 'null'), '}');
    WHILE n OPERATOR(pg_catalog.<) TG_NARGS AND wrong IS NULL LOOP
        at := pg_catalog.strpos(TG_ARGV[n], '=');
        named := pg_catalog.left(TG_ARGV[n], greatest(at OPERATOR(pg_catalog.-) 1, 0));
        value := pg_catalog.substr(TG_ARGV[n], at OPERATOR(pg_catalog.+) 1);
        n := n OPERATOR(pg_catalog.+) 1;
        IF named OPERATOR(pg_catalog.=) '' THEN
            wrong := pg_catalog.concat('argument ', n, ' is no column=value, and no %s before it asks for it');
        ELSIF pg_catalog.strpos(value, '%s') OPERATOR(pg_catalog.>) 0
            AND TG_LEVEL OPERATOR(pg_catalog.=) 'STATEMENT' THEN
            wrong := pg_catalog.concat('argument ', n,
                ' has a %s, which a trigger FOR EACH STATEMENT can not have: it has many rows');
        ELSIF pg_catalog.strpos(value, '%s') OPERATOR(pg_catalog.>) 0 THEN
            rest := pg_catalog.string_to_array(value, '%s');
            value := rest[1];
            FOREACH piece IN ARRAY rest[2:] LOOP
                IF n OPERATOR(pg_catalog.>=) TG_NARGS THEN
                    wrong := pg_catalog.concat('no argument follows for a %s of column ',
                        pg_catalog.quote_ident(named));
                    EXIT;
                END IF;
                part := coalesce(new_rows, old_rows) OPERATOR(pg_catalog.->>) TG_ARGV[n];
                IF part IS NULL AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid OPERATOR(pg_catalog.=) TG_RELID
                        AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) TG_ARGV[n]
                        AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
                ) THEN
                    wrong := pg_catalog.concat('table ', TG_RELID::pg_catalog.regclass, ' has no column ',
                        pg_catalog.quote_ident(TG_ARGV[n]), ', which argument ', n OPERATOR(pg_catalog.+) 1, ' names');
                    EXIT;
                END IF;
                value := pg_catalog.concat(value, part, piece);
                n := n OPERATOR(pg_catalog.+) 1;
            END LOOP;
        END IF;
        place := pg_catalog.array_position(columns, named);
        IF place IS NULL THEN
            names := pg_catalog.array_append(names, named);
            texts := pg_catalog.array_append(texts, value);
        ELSIF given[place] IS NOT NULL THEN
            wrong := pg_catalog.concat('column ', pg_catalog.quote_ident(named), ' is set twice');
        ELSE
            given[place] := value;
        END IF;
    END LOOP;
    IF wrong IS NULL THEN
        :firm
    END IF;
    IF wrong IS NULL AND names IS NULL THEN
        INSERT INTO :table (
            input, data, "group", active, live, repeat, timeout, count, max, delete, drift, header, save, string,
                delimiter, escape, quote, "null", remote, rerun, priority, retry, backoff
        )
        SELECT TG_ARGV[0], event, coalesce(given[1], :schema.pgtaskd_async_default_:hash('group':::schema.pgtaskd_call_:hash)),
            coalesce(given[2]::pg_catalog.interval,
                :schema.pgtaskd_async_default_:hash('active':::schema.pgtaskd_call_:hash)::pg_catalog.interval),
            coalesce(given[3]::pg_catalog.interval,
                :schema.pgtaskd_async_default_:hash('live':::schema.pgtaskd_call_:hash)::pg_catalog.interval),
            coalesce(given[4]::pg_catalog.interval,
                :schema.pgtaskd_async_default_:hash('repeat':::schema.pgtaskd_call_:hash)::pg_catalog.interval),
            coalesce(given[5]::pg_catalog.interval,
                :schema.pgtaskd_async_default_:hash('timeout':::schema.pgtaskd_call_:hash)::pg_catalog.interval),
            coalesce(given[6]::pg_catalog.int4,
                :schema.pgtaskd_async_default_:hash('count':::schema.pgtaskd_call_:hash)::pg_catalog.int4),
            coalesce(given[7]::pg_catalog.int4,
                :schema.pgtaskd_async_default_:hash('max':::schema.pgtaskd_call_:hash)::pg_catalog.int4),
            coalesce(given[8]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('delete':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[9]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('drift':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[10]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('header':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[11]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('save':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[12]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('string':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[13]::pg_catalog."char",
                :schema.pgtaskd_async_default_:hash('delimiter':::schema.pgtaskd_call_:hash)::pg_catalog."char"),
            coalesce(given[14]::pg_catalog."char",
                :schema.pgtaskd_async_default_:hash('escape':::schema.pgtaskd_call_:hash)::pg_catalog."char"),
            coalesce(given[15]::pg_catalog."char",
                :schema.pgtaskd_async_default_:hash('quote':::schema.pgtaskd_call_:hash)::pg_catalog."char"),
            coalesce(given[16], :schema.pgtaskd_async_default_:hash('null':::schema.pgtaskd_call_:hash)),
            coalesce(given[17], :schema.pgtaskd_async_default_:hash('remote':::schema.pgtaskd_call_:hash)),
            coalesce(given[18]::pg_catalog.bool,
                :schema.pgtaskd_async_default_:hash('rerun':::schema.pgtaskd_call_:hash)::pg_catalog.bool),
            coalesce(given[19]::pg_catalog.int4,
                :schema.pgtaskd_async_default_:hash('priority':::schema.pgtaskd_call_:hash)::pg_catalog.int4),
            coalesce(given[20]::pg_catalog.int4,
                :schema.pgtaskd_async_default_:hash('retry':::schema.pgtaskd_call_:hash)::pg_catalog.int4),
            coalesce(given[21]::pg_catalog.interval,
                :schema.pgtaskd_async_default_:hash('backoff':::schema.pgtaskd_call_:hash)::pg_catalog.interval)
        WHERE :schema.pgtaskd_async_usual_:hash('':::schema.pgtaskd_call_:hash);
        IF FOUND THEN
            RETURN NULL;
        END IF;
        :firm
    END IF;
    IF wrong IS NULL THEN
        wrong := :schema.pgtaskd_async_insert_:hash(TG_ARGV[0]:::schema.pgtaskd_call_:hash, event, given, names, texts);
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'trigger % of table %: %', pg_catalog.quote_ident(TG_NAME), TG_RELID::pg_catalog.regclass,
            wrong USING ERRCODE = 'invalid_parameter_value',
            HINT = pg_catalog.concat('Such as EXECUTE FUNCTION ', :its_async_text,
                '(''SELECT 1'', ''group=pay-%s'', ''account_id'')');
    END IF;
    RETURN NULL;
END
$body$;

-- Whoever makes them, they are the table's owner's, as whom they insert. Functions of the same
-- names with other arguments are somebody else's.
SET LOCAL pgtaskd.relation = :table_text;
DO $body$
DECLARE
    made pg_catalog.text;
    owner pg_catalog.text;
BEGIN
    FOR made, owner IN
        SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text, pg_catalog.quote_ident(o.rolname)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) c.relowner
        JOIN pg_catalog.pg_proc AS p ON p.proowner OPERATOR(pg_catalog.<>) c.relowner AND (
            p.proname OPERATOR(pg_catalog.=) ANY ('{pgtaskd_async_columns_:hash,pgtaskd_async_unset_:hash,pgtaskd_async_default_:hash,
                pgtaskd_async_usual_:hash,pgtaskd_async_shown_:hash,pgtaskd_async_insert_:hash}'::pg_catalog.name[])
                AND pg_catalog.to_regtype(pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_call_:hash'))::pg_catalog.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
            OR p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(pg_catalog.concat(pg_catalog.current_setting('pgtaskd.function'), '()'))::pg_catalog.oid)
        WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.current_setting('pgtaskd.relation'))::pg_catalog.oid
        GROUP BY p.oid, o.rolname
    LOOP
        EXECUTE pg_catalog.format('ALTER FUNCTION %s OWNER TO %s', made, owner);
    END LOOP;
END
$body$;
COMMENT ON FUNCTION :its_async()
    IS 'Trigger function: inserts a task for each change of a table, as the table of tasks'' owner (:made)';
