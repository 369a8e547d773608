-- Makes what the settings say, or makes it again where it is of another build. What has its name
-- and is not of pgtaskd's making is left alone.
SET LOCAL pgtaskd.beside = $beside$DO $block$
DECLARE
    wanted pg_catalog.text := pg_catalog.current_setting('pgtaskd.name');
    made pg_catalog.text := pg_catalog.current_setting('pgtaskd.made');
    task pg_catalog.pg_class;
    other pg_catalog.text;
    comment pg_catalog.text;
    trusted pg_catalog.bool;
    here pg_catalog.text;
    sealed pg_catalog.bool; -- no dump has brought it
BEGIN
    :here
    SELECT c.* INTO task FROM pg_catalog.pg_class AS c
    WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.current_setting('pgtaskd.task'))::pg_catalog.oid;
    FOR other, comment, sealed, trusted IN
        WITH thing AS (
            SELECT 'relation' AS kind, c.oid, c.relowner AS owner, c.tableoid AS class
            FROM pg_catalog.pg_class AS c
            WHERE c.relnamespace OPERATOR(pg_catalog.=) task.relnamespace AND c.relname OPERATOR(pg_catalog.=) wanted::pg_catalog.name
            UNION ALL
            SELECT 'relation', t.oid, t.typowner, t.tableoid
            FROM pg_catalog.pg_type AS t
            WHERE t.typnamespace OPERATOR(pg_catalog.=) task.relnamespace AND t.typname OPERATOR(pg_catalog.=) wanted::pg_catalog.name
                AND t.typrelid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
            UNION ALL
            SELECT 'function', p.oid, p.proowner, p.tableoid
            FROM pg_catalog.pg_proc AS p
            WHERE p.pronamespace OPERATOR(pg_catalog.=) task.relnamespace AND p.proname OPERATOR(pg_catalog.=) wanted::pg_catalog.name
                AND p.proargtypes OPERATOR(pg_catalog.=) CASE WHEN wanted OPERATOR(pg_catalog.~) '_why$' THEN '20' ELSE '' END::pg_catalog.oidvector -- as in inspect/beside.sql
        )
        SELECT :readable(pg_catalog.quote_ident(o.rolname)), coalesce(s.description, ''),
            s.description OPERATOR(pg_catalog.!~) ' #[-0-9]+$' OR s.description OPERATOR(pg_catalog.~) pg_catalog.concat(here, thing.oid, '$'),
            o.rolsuper OR thing.owner OPERATOR(pg_catalog.=) task.relowner OR o.rolname OPERATOR(pg_catalog.=) current_user
        FROM thing
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) thing.owner
        LEFT JOIN pg_catalog.pg_description AS s ON s.objoid OPERATOR(pg_catalog.=) thing.oid
            AND s.classoid OPERATOR(pg_catalog.=) thing.class AND s.objsubid OPERATOR(pg_catalog.=) 0
        WHERE thing.kind OPERATOR(pg_catalog.=) pg_catalog.current_setting('pgtaskd.kind')
    LOOP
        IF NOT trusted OR comment OPERATOR(pg_catalog.!~) '[(]pgtaskd schema [0-9]{1,9}[ )]' OR comment OPERATOR(pg_catalog.~) '^Tasks: SQL to run' THEN
            RAISE WARNING 'the name % belongs to something of role %, which is left alone', pg_catalog.quote_ident(wanted), other;
            RETURN;
        END IF;
        IF sealed AND pg_catalog.strpos(comment, made) OPERATOR(pg_catalog.>) 0 AND NOT EXISTS (
                SELECT -- whoever has dropped it may have left another of its name
                FROM pg_catalog.unnest(pg_catalog.current_setting('pgtaskd.calls')::pg_catalog.name[]) AS called (name)
                WHERE NOT EXISTS (
                    SELECT
                    FROM pg_catalog.pg_proc AS p
                    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
                    WHERE p.pronamespace OPERATOR(pg_catalog.=) task.relnamespace AND p.proname OPERATOR(pg_catalog.=) called.name
                        AND t.typnamespace OPERATOR(pg_catalog.=) task.relnamespace AND t.typname OPERATOR(pg_catalog.=) pg_catalog.current_setting('pgtaskd.call')::pg_catalog.name
                )
            )
            OR pg_catalog.regexp_replace(comment, '^.*pgtaskd schema ([0-9]+).*$', E'\\1')::pg_catalog.int4 OPERATOR(pg_catalog.>) :schema_version THEN
            RETURN;
        END IF;
    END LOOP;
    EXECUTE pg_catalog.current_setting('pgtaskd.statements');
EXCEPTION
    WHEN others THEN RAISE WARNING '% is not made: %', pg_catalog.quote_ident(wanted), SQLERRM;
END
$block$$beside$;
