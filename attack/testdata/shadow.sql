-- A schema in which everything that the catalog has is to be found as well, for one who looks there first.
CREATE SCHEMA shadow AUTHORIZATION $m;
GRANT USAGE ON SCHEMA shadow TO PUBLIC;
SET SESSION AUTHORIZATION $m;
SET search_path = pg_catalog;
SET check_function_bodies = off;

DO $kit$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS result
        FROM pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset AND p.provariadic = 0
            AND p.proname ~ '^(pg_(backend_pid|is_in_recovery|notify|try_advisory|advisory|partition_root|get_expr|postmaster|terminate|stat_get_backend)|current_setting|set_config|statement_timestamp|clock_timestamp|now|transaction_timestamp|concat|format|left|quote_ident|length|octet_length|hashtext|encode|sha256|convert_to|jsonb_typeof|jsonb_array_length|to_jsonb|has_(table|schema|sequence)_privilege|obj_description|col_description|date_part|interval_send|abs|split_part|replace|txid_current)'
            AND pg_get_function_result(p.oid) !~ 'any|internal|cstring|trigger'
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION shadow.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%L); RETURN%s; END $f$',
                f.proname, f.args, f.result, format('function %s(%s)', f.proname, f.args), CASE WHEN f.result <> 'void' THEN ' NULL' END);
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
    FOR f IN
        SELECT DISTINCT o.oprname, format_type(o.oprleft, NULL) AS l, format_type(o.oprright, NULL) AS r
        FROM pg_operator AS o
        WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b' AND o.oprname IN ('=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/', '||', '~~', '!~~', '->', '->>')
            AND o.oprleft::regtype::text ~ '^(text|name|"char"|smallint|integer|bigint|oid|boolean|interval|timestamp with time zone|jsonb|anyenum|anyarray|numeric|double precision)$'
            AND o.oprright::regtype::text ~ '^(text|name|"char"|smallint|integer|bigint|oid|boolean|interval|timestamp with time zone|jsonb|anyenum|anyarray|numeric|double precision)$'
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION shadow.op(%1$s, %2$s) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%3$L); RETURN NULL; END $f$',
                f.l, f.r, format('operator (%s, %s)', f.l, f.r));
        EXCEPTION WHEN duplicate_function THEN NULL;
        END;
        EXECUTE format('CREATE OPERATOR shadow.%s (FUNCTION = shadow.op, LEFTARG = %s, RIGHTARG = %s)', f.oprname, f.l, f.r);
    END LOOP;
    FOR f IN SELECT unnest('{int2,int4,int8,bool,text,name,oid,timestamptz,interval,jsonb,regclass,regrole,regtype,xid,float8,numeric,bytea}'::text[]) AS name LOOP
        EXECUTE format('CREATE DOMAIN shadow.%I AS pg_catalog.%1$I CHECK (kit.yes())', f.name);
    END LOOP;
    FOR f IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') AND has_table_privilege(oid, 'SELECT') LOOP
        BEGIN
            EXECUTE format('CREATE VIEW shadow.%I AS SELECT * FROM pg_catalog.%1$I WHERE kit.yes()', f.relname);
        EXCEPTION WHEN invalid_table_definition THEN NULL; -- a column of a pseudo-type
        END;
    END LOOP;
END
$kit$;

RESET search_path;
RESET check_function_bodies;
RESET SESSION AUTHORIZATION;
