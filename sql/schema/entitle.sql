-- By what the end of a task is written in the transaction of its own SQL where that runs under a
-- lower role: a function of the serving role's, which asks for a token. Only the leader knows that,
-- who sends it when the SQL is over; each serves once, in one session. All belongs to the serving
-- role, whoever makes it.

SET LOCAL pgtaskd.serving = :serving_text;
SET LOCAL pgtaskd.tokens = :tokens_text;
SET LOCAL pgtaskd.schema = :schema_text;

-- A table or a function of that name that is somebody else's is not made use of, nor a table that a
-- dump has brought, or that was not closed to others all the time: they may have written tokens there.
DO $pgtaskd$
DECLARE
    serving pg_catalog.oid := pg_catalog.quote_ident(pg_catalog.current_setting('pgtaskd.serving'))::pg_catalog.regrole::pg_catalog.oid;
    tokens pg_catalog.text := pg_catalog.current_setting('pgtaskd.tokens');
    relation pg_catalog.text := pg_catalog.format('%I.%I', pg_catalog.current_setting('pgtaskd.schema'), tokens);
    number pg_catalog.oid := pg_catalog.to_regclass(relation)::pg_catalog.oid;
    aside pg_catalog.text;
    revoke pg_catalog.text;
    here pg_catalog.text;
    other pg_catalog.text;
BEGIN
    :here
    SELECT pg_catalog.format('%I.%I', n.nspname, x.name) INTO other
    FROM pg_catalog.pg_namespace AS n
    CROSS JOIN LATERAL (
        SELECT c.relname AS name, c.relowner AS owner
        FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relname OPERATOR(pg_catalog.=) tokens
        UNION ALL
        SELECT t.typname, t.typowner
        FROM pg_catalog.pg_type AS t
        WHERE t.typnamespace OPERATOR(pg_catalog.=) n.oid AND t.typname OPERATOR(pg_catalog.=) tokens
        UNION ALL
        SELECT p.proname, p.proowner
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid
            AND (
                p.proname OPERATOR(pg_catalog.=) tokens::pg_catalog.name AND p.pronargs OPERATOR(pg_catalog.=) 0
                OR p.proname OPERATOR(pg_catalog.=) pg_catalog.replace(tokens, '_token_', '_end_')::pg_catalog.name
                AND pg_catalog.to_regtype(pg_catalog.format('%I.%I', n.nspname, pg_catalog.replace(tokens, '_token_', '_call_')))::pg_catalog.oid
                    OPERATOR(pg_catalog.=) ANY (p.proargtypes)
            )
    ) AS x
    WHERE n.nspname OPERATOR(pg_catalog.=) pg_catalog.current_setting('pgtaskd.schema')
        AND x.owner OPERATOR(pg_catalog.<>) serving;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION '% has a name that the table needs, and does not belong to role %', other, pg_catalog.current_setting('pgtaskd.serving')
            USING ERRCODE = 'insufficient_privilege', HINT = 'Drop or rename it.';
    END IF;
    -- Others may have made it after that look. Once it is locked nobody puts another one in its place.
    IF number IS NOT NULL THEN
        EXECUTE pg_catalog.format('LOCK TABLE %s', relation);
        IF NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS c
            WHERE c.oid OPERATOR(pg_catalog.=) number
                AND c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid
                AND c.relowner OPERATOR(pg_catalog.=) serving
        ) THEN
            RAISE EXCEPTION 'somebody has put another table in the place of %', relation USING ERRCODE = 'object_not_in_prerequisite_state';
        END IF;
    END IF;
    IF number IS NOT NULL AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        WHERE c.oid OPERATOR(pg_catalog.=) number AND :closed_here AND :unshared
    ) THEN
        -- What depends on the type of its rows may be anybody's, since an expression takes no right
        -- to it. It is neither waited for nor dropped: the table is left to it, without the rights,
        -- triggers and keys of others, under a name that nothing of ours looks for.
        IF EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) c.reltype
            JOIN pg_catalog.pg_depend AS d ON d.deptype OPERATOR(pg_catalog.=) 'n'::pg_catalog."char"
                AND (
                    d.refclassid OPERATOR(pg_catalog.=) c.tableoid AND d.refobjid OPERATOR(pg_catalog.=) c.oid
                    OR d.refclassid OPERATOR(pg_catalog.=) t.tableoid AND d.refobjid OPERATOR(pg_catalog.=) ANY (ARRAY[t.oid, t.typarray])
                )
            WHERE c.oid OPERATOR(pg_catalog.=) number
        ) THEN
            aside := pg_catalog.concat('pgtaskd_aside_', (pg_catalog.random() OPERATOR(pg_catalog.*) 1e15::pg_catalog.float8)::pg_catalog.int8); -- nobody has taken it
            EXECUTE pg_catalog.format('ALTER TABLE %s RENAME TO %I', relation, aside);
            relation := pg_catalog.format('%I.%I', pg_catalog.current_setting('pgtaskd.schema'), aside);
            :private
            :unwatched
            EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', relation, 'A table of tokens that others may have written to, and that something depends on; not used any more');
            relation := pg_catalog.format('%I.%I', pg_catalog.current_setting('pgtaskd.schema'), tokens);
        ELSE
            EXECUTE pg_catalog.format('DROP TABLE %s', relation); -- which runs nothing of others
        END IF;
        number := NULL;
    END IF;
    IF number IS NULL THEN -- an error where there is one by now
        EXECUTE pg_catalog.format('CREATE UNLOGGED TABLE %s (pid pg_catalog.int4 PRIMARY KEY, token pg_catalog.bytea NOT NULL)', relation);
        EXECUTE pg_catalog.format('REVOKE ALL ON TYPE %s FROM PUBLIC', relation); -- a column of it would be in the way of a change
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO %I', relation, pg_catalog.current_setting('pgtaskd.serving'));
    END IF;
END
$pgtaskd$;

-- A role that may write all tables may not write this one.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_token_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    IF current_user OPERATOR(pg_catalog.<>) :serving THEN
        RAISE EXCEPTION 'only pgtaskd writes tokens' USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;

ALTER FUNCTION :schema.pgtaskd_token_:hash() OWNER TO :serving_role;
COMMENT ON FUNCTION :schema.pgtaskd_token_:hash() IS 'Keeps all others from writing tokens (:version)';

-- Default privileges may have given others rights to it, and those let them add triggers, which
-- would run as the serving role.
DO $pgtaskd$
DECLARE
    relation pg_catalog.text := pg_catalog.format('%I.%I', pg_catalog.current_setting('pgtaskd.schema'), pg_catalog.current_setting('pgtaskd.tokens'));
    revoke pg_catalog.text;
BEGIN
    :private
    :unwatched
END
$pgtaskd$;
CREATE TRIGGER pgtaskd_token BEFORE DELETE OR INSERT OR UPDATE ON :tokens
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_token_:hash();
ALTER TABLE :tokens ENABLE ALWAYS TRIGGER pgtaskd_token;
DO $pgtaskd$
DECLARE
    relation pg_catalog.text := pg_catalog.format('%I.%I', pg_catalog.current_setting('pgtaskd.schema'), pg_catalog.current_setting('pgtaskd.tokens'));
    here pg_catalog.text;
BEGIN
    :here
    -- Whoever disables the trigger, if only for a moment, changes its row.
    EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', relation, (
        SELECT pg_catalog.concat('By what the leader shows that the end of a task comes from it, one for each session of a lower role (:version)',
            here, g.tgrelid, '-', g.xmin)
        FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_token'
    ));
END
$pgtaskd$;

COMMENT ON COLUMN :tokens.pid IS 'Process id of the session';
COMMENT ON COLUMN :tokens.token IS 'SHA-256 of the token that serves next; that of a session that has ended is taken out';

-- The statements are the leader''s own, and run as the serving role, as they do in its sessions;
-- the parameters of all of them are the last argument.
-- Temporary objects of the session come last in the search_path: a trigger of the table''s that
-- looks up a table by its name must not find those of the task.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_end_:hash(pg_catalog.bytea, pg_catalog.bytea, :schema.pgtaskd_call_:hash, pg_catalog.text[], pg_catalog.text[])
RETURNS pg_catalog.void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation pg_catalog.text := pg_catalog.format('%I.%I', :schema_text, :tokens_text);
    number pg_catalog.oid;
    statement pg_catalog.text;
BEGIN
    -- After a RENAME of the schema, or a DROP of the table, its name is free for others: a table of
    -- theirs is not asked. The type of $3 tells in which schema the function stands. A transaction may
    -- see the catalogs as they were long ago, but names mean what they do now: so the table is the one
    -- that has the name. It is locked before, which runs nothing: who waits for a lock behind the look
    -- would find what has the name by then.
    IF pg_catalog.to_regclass(relation) IS NOT NULL THEN
        LOCK TABLE ONLY :tokens IN ROW EXCLUSIVE MODE;
    END IF;
    SELECT c.oid INTO number
    FROM pg_catalog.pg_type AS y
    JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) y.typnamespace
    WHERE y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof($3)::pg_catalog.oid
        AND c.relname OPERATOR(pg_catalog.=) :tokens_text
        AND c.relkind OPERATOR(pg_catalog.=) 'r' -- the columns of a view may have any name, tableoid and xmin, too
        AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user
        AND NOT :changed_c;
    IF (number OPERATOR(pg_catalog.=) pg_catalog.to_regclass(relation)::pg_catalog.oid) IS NOT TRUE THEN
        RAISE EXCEPTION 'table % does not stand beside the function that asks it', :tokens_text USING ERRCODE = 'insufficient_privilege', CONSTRAINT = 'pgtaskd_token',
            HINT = 'It was dropped, or its schema was renamed: pgtaskd makes both anew where it serves a table.';
    END IF;
    -- Nor does a token count that others may have written: the transaction itself, or another one
    -- while the trigger was off, which shows the catalogs of then.
    UPDATE :tokens AS t
    SET token = $2
    WHERE t.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
        AND t.token OPERATOR(pg_catalog.=) pg_catalog.sha256($1)
        AND EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS c
            WHERE c.oid OPERATOR(pg_catalog.=) t.tableoid
                AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user
                AND :closed_since
        )
        AND (pg_catalog.txid_status(:full_xmin) OPERATOR(pg_catalog.=) 'in progress') IS NOT TRUE;
    IF NOT FOUND THEN -- as exec/error.go knows it
        RAISE EXCEPTION 'only pgtaskd writes the ends of tasks' USING ERRCODE = 'insufficient_privilege', CONSTRAINT = 'pgtaskd_token';
    END IF;
    PERFORM pg_catalog.set_config('search_path', $3, true);
    FOREACH statement IN ARRAY $4 LOOP
        EXECUTE statement USING $5;
    END LOOP;
END
$$;

ALTER FUNCTION :schema.pgtaskd_end_:hash(pg_catalog.bytea, pg_catalog.bytea, :schema.pgtaskd_call_:hash, pg_catalog.text[], pg_catalog.text[]) OWNER TO :serving_role;
GRANT EXECUTE ON FUNCTION :schema.pgtaskd_end_:hash(pg_catalog.bytea, pg_catalog.bytea, :schema.pgtaskd_call_:hash, pg_catalog.text[], pg_catalog.text[]) TO PUBLIC;
COMMENT ON FUNCTION :schema.pgtaskd_end_:hash(pg_catalog.bytea, pg_catalog.bytea, :schema.pgtaskd_call_:hash, pg_catalog.text[], pg_catalog.text[])
IS 'Writes the end of a task in the transaction of its SQL, for who has the token of the session (:version)';
