-- The trigger function that inserts a task for each change of some table. It runs as the owner of
-- the table of tasks, under "as inserter" as the role that writes. A transition table may have the
-- name of a catalog and hide it, so catalogs are named with their schema. lane is for the most
-- common trigger, whose INSERT needs no dynamic SQL.
CREATE OR REPLACE FUNCTION :its_async() RETURNS trigger LANGUAGE plpgsql SECURITY :async_security SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_name name; new_name name; old_rows json; new_rows json;
    event text; settings jsonb; wrong text;
    lane text;
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        old_rows := row_to_json(OLD); new_rows := row_to_json(NEW);
    ELSE
        SELECT t.tgoldtable, t.tgnewtable INTO old_name, new_name FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME;
        IF old_name IS NOT NULL THEN EXECUTE format('SELECT json_agg(r.*) FROM %I AS r', old_name) INTO old_rows; END IF;
        IF new_name IS NOT NULL THEN EXECUTE format('SELECT json_agg(r.*) FROM %I AS r', new_name) INTO new_rows; END IF;
    END IF;
    IF TG_WHEN <> 'AFTER' OR TG_OP = 'TRUNCATE' OR TG_NARGS = 0 THEN
        wrong := 'it must be AFTER INSERT, UPDATE or DELETE, and the first argument must be the SQL of its tasks';
    ELSIF TG_LEVEL = 'STATEMENT' AND num_nonnulls(old_name, new_name) = 0 THEN
        wrong := 'a trigger FOR EACH STATEMENT needs REFERENCING NEW TABLE AS a_name, or OLD TABLE';
    ELSIF old_rows IS NOT NULL OR new_rows IS NOT NULL THEN
        event := format('{"op": "%s", "table": %s, "old": %s, "new": %s}', TG_OP, to_json(coalesce(pg_partition_root(TG_RELID)::oid, TG_RELID)::regclass::text),
            coalesce(old_rows, 'null'), coalesce(new_rows, 'null'));
        IF TG_NARGS = 3 AND TG_ARGV[1] ~ '^group=[^%]*%s[^%]*$' THEN
            lane := replace(substr(TG_ARGV[1], 7), '%s', coalesce(new_rows, old_rows) ->> TG_ARGV[2]);
        END IF;
        settings := :schema.pgtaskd_async_settings();
        IF TG_NARGS = 1 THEN
            INSERT INTO :table (input, data) VALUES (TG_ARGV[0], event);
        ELSIF lane IS NOT NULL THEN
            INSERT INTO :table (input, data, "group") VALUES (TG_ARGV[0], event, lane);
        ELSE
            wrong := :schema.pgtaskd_async(:table_text, TG_ARGV[0:], TG_RELID, coalesce(new_rows, old_rows), event);
        END IF;
        IF settings IS NOT NULL THEN settings := :schema.pgtaskd_async_settings(settings); END IF;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'trigger % of table %: %', quote_ident(TG_NAME), TG_RELID::regclass, wrong USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION :its_async() FROM PUBLIC;
COMMENT ON FUNCTION :its_async() IS 'Makes a task of each change (:made)';
