-- What somebody who may create in a schema can put there for others to call by mistake: operators
-- and functions that raise an error, for all signatures that a statement of ours could fit, casts
-- between a type of their own and those of the system, and domains that have the names of types and
-- refuse all values.
-- capture.schema where, capture.state the type of states, capture.operators and capture.functions
-- the names that ours use
SET search_path = pg_catalog, pg_temp;

DO $$
DECLARE
    schema text := current_setting('capture.schema');
    body text := 'BEGIN RAISE EXCEPTION $a$captured$a$; END';
    types text[] := ARRAY['text', 'name', 'varchar', 'timestamptz', 'interval', 'int2', 'int4', 'int8', 'float8', 'numeric', 'bool', '"char"', 'jsonb', 'oid', 'regclass', 'xid',
        'tid', 'bytea'];
    state text := current_setting('capture.state');
    made record;
BEGIN
    EXECUTE format('CREATE TYPE %s.kind AS ENUM (''a'')', schema);
    CREATE TEMP TABLE operators ON COMMIT DROP AS
        WITH there AS (
            SELECT oprname AS name, oprleft::regtype::text AS l, oprright::regtype::text AS r
            FROM pg_operator
            WHERE oprname = ANY (string_to_array(current_setting('capture.operators'), ' ')) AND oprleft <> 0
                AND oprleft::regtype = ANY (types::regtype[]) AND oprright::regtype = ANY (types::regtype[])
            UNION
            SELECT unnest(ARRAY['=', '<>', '||', '<', '>']), state, state
        ), near AS (
            SELECT unnest(ARRAY['text', 'name', 'bigint', 'integer', schema || '.kind']) AS type
        )
        SELECT name, l, r FROM there
        UNION SELECT name, l, l FROM there
        UNION SELECT name, r, r FROM there
        UNION SELECT name, l, type FROM there, near
        UNION SELECT name, type, r FROM there, near
        UNION SELECT name, l, l || '[]' FROM there WHERE name IN ('=', '<>')
        UNION SELECT name, l || '[]', l || '[]' FROM there WHERE name IN ('=', '<>')
        UNION SELECT name, v.* FROM there, (VALUES ('anyelement', 'anyelement'), ('anyenum', 'anyenum'), ('anyarray', 'anyarray'), ('anynonarray', 'text'), ('text', 'anynonarray')) AS v;
    FOR made IN SELECT DISTINCT l, r FROM operators LOOP
        EXECUTE format('CREATE FUNCTION %s.captured(%s, %s) RETURNS bool LANGUAGE plpgsql AS %L', schema, made.l, made.r, body);
    END LOOP;
    FOR made IN SELECT DISTINCT name, l, r FROM operators LOOP
        EXECUTE format('CREATE OPERATOR %s.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %1$s.captured)', schema, made.name, made.l, made.r);
    END LOOP;

    FOR made IN
        SELECT p.proname AS name, (SELECT string_agg(replace(CASE
                    WHEN n = p.pronargs AND p.provariadic = '"any"'::regtype THEN 'VARIADIC anyarray'
                    WHEN n = p.pronargs AND p.provariadic <> 0 THEN 'VARIADIC ' || format_type(p.proargtypes[n - 1], NULL)
                    ELSE format_type(p.proargtypes[n - 1], NULL)
                END, '"any"', 'anyelement'), ', ' ORDER BY n) FROM generate_series(1, k) AS n) AS args
        FROM pg_proc AS p
        CROSS JOIN generate_series(p.pronargs::int4 - p.pronargdefaults, p.pronargs) AS k
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (string_to_array(current_setting('capture.functions'), ' '))
        UNION
        SELECT f, t FROM unnest(string_to_array(current_setting('capture.functions'), ' ')) AS f, unnest(ARRAY['text', 'name', 'integer', 'bigint', 'oid', 'anyelement']) AS t
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION %s.%I(%s) RETURNS bool LANGUAGE plpgsql AS %L', schema, made.name, made.args, body);
        EXCEPTION WHEN invalid_function_definition OR feature_not_supported THEN
            NULL; -- arguments that no function of this language can have
        END;
    END LOOP;

    FOR made IN SELECT t AS type, n FROM unnest(types || state) WITH ORDINALITY AS t (t, n) LOOP
        EXECUTE format('CREATE FUNCTION %s.cast_%s(%1$s.kind) RETURNS %3$s LANGUAGE plpgsql AS %4$L', schema, made.n, made.type, body);
        EXECUTE format('CREATE FUNCTION %s.cast_%s(%3$s) RETURNS %1$s.kind LANGUAGE plpgsql AS %4$L', schema, made.n, made.type, body);
        EXECUTE format('CREATE CAST (%s.kind AS %3$s) WITH FUNCTION %1$s.cast_%2$s(%1$s.kind) AS IMPLICIT', schema, made.n, made.type);
        EXECUTE format('CREATE CAST (%3$s AS %1$s.kind) WITH FUNCTION %1$s.cast_%2$s(%3$s) AS IMPLICIT', schema, made.n, made.type);
    END LOOP;
    FOR made IN SELECT t AS type FROM unnest(types) AS t LOOP
        EXECUTE format('CREATE DOMAIN %s.%s AS %2$s CHECK (VALUE IS NULL)', schema, made.type);
    END LOOP;
END
$$;
