-- Functions in schema $n with the names of catalog functions, for arguments of almost the same
-- types.
SET search_path = pg_catalog;

DO $kit$
DECLARE
    near jsonb := '{"text": ["name", "varchar", "\"char\""], "int8": ["int4"], "int4": ["int2", "oid"], "float8": ["int4", "numeric"],
        "name": ["text"], "oid": ["regclass", "int8"], "regclass": ["oid", "text"], "bytea": ["text"], "timestamptz": ["timestamp"],
        "\"any\"": ["text", "name", "int8", "int4", "oid"], "anyelement": ["text", "name", "int4", "int8"], "anyarray": ["text[]", "int8[]", "name[]"], "xid": ["int4"],
        "anycompatible": ["text", "int4"], "anycompatiblearray": ["text[]", "int8[]"], "interval": ["text"], "bool": ["text"], "numeric": ["int4", "int8"]}';
    f record;
    i int;
    other text;
    args text[];
BEGIN
    FOR f IN
        SELECT p.proname, ARRAY(SELECT format_type(a, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (a, n) ORDER BY n) AS args,
            format_type(CASE WHEN p.prorettype::regtype::text LIKE 'any%' THEN 'text'::regtype ELSE p.prorettype END, NULL) AS result
        FROM pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a') AND p.pronargs BETWEEN 1 AND 3 AND NOT p.proretset
            AND p.proname = ANY ('{concat,concat_ws,format,left,right,length,octet_length,lower,upper,replace,split_part,substr,quote_ident,quote_literal,
                to_regrole,to_regclass,has_schema_privilege,has_table_privilege,has_sequence_privilege,current_setting,set_config,pg_get_expr,format_type,
                obj_description,col_description,pg_stat_get_activity,pg_terminate_backend,pg_partition_root,pg_notify,pg_try_advisory_lock,pg_advisory_unlock,
                pg_try_advisory_xact_lock_shared,hashtext,date_part,date_trunc,extract,abs,floor,power,count,min,max,sum,array_agg,string_agg,
                jsonb_array_length,jsonb_typeof,jsonb_build_object,to_jsonb,encode,convert_to,sha256,interval_send,array_length,cardinality,
                string_to_array,array_to_string,unnest,coalesce,greatest,nullif,now,age,txid_current_if_assigned}'::text[])
    LOOP
        FOR i IN 1 .. cardinality(f.args) LOOP
            FOR other IN SELECT jsonb_array_elements_text(near -> CASE f.args[i] WHEN 'bigint' THEN 'int8' WHEN 'integer' THEN 'int4'
                WHEN 'double precision' THEN 'float8' WHEN 'boolean' THEN 'bool' WHEN 'timestamp with time zone' THEN 'timestamptz' ELSE f.args[i] END)
            LOOP
                args := f.args;
                args[i] := other;
                args := ARRAY(SELECT CASE WHEN a LIKE '"any%' OR a LIKE 'any%' THEN 'text' ELSE a END FROM unnest(args) AS a);
                BEGIN
                    EXECUTE format('CREATE FUNCTION $n.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%L); RETURN%s; END $f$',
                        f.proname, array_to_string(args, ', '), f.result, format('function %s(%s)', f.proname, array_to_string(args, ', ')), CASE WHEN f.result <> 'void' THEN ' NULL' END);
                EXCEPTION WHEN duplicate_function OR undefined_object OR invalid_function_definition OR feature_not_supported THEN
                    NULL;
                END;
            END LOOP;
        END LOOP;
    END LOOP;
END
$kit$;

RESET search_path;
