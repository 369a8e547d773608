-- Puts another body into each function of the attacker's, and takes away from the types.
SET search_path = pg_catalog;

DO $kit$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.pronamespace::regnamespace AS n, p.proname, pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS result, p.proretset OR 'o' = ANY (p.proargmodes) AS many
        FROM pg_proc AS p
        WHERE p.proowner = current_user::regrole AND p.pronamespace <> 'kit'::regnamespace AND p.proname <> 'op'
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION %s.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%L); %s END $f$',
            f.n, f.proname, f.args, f.result, format('function %s', f.proname),
            CASE WHEN f.many THEN 'RETURN;' ELSE CASE f.result WHEN 'trigger' THEN 'IF TG_OP = ''DELETE'' THEN RETURN OLD; END IF; RETURN NEW;' WHEN 'void' THEN '' ELSE 'RETURN NULL;' END END);
    END LOOP;
END
$kit$;

RESET search_path;
