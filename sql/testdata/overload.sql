-- Functions that could be taken for those in the schema public: with arguments that fit as well, or
-- better, and with a further one that has a default. What cannot be made is left out.
DO $do$
DECLARE f record; a text; b text; made int := 0;
BEGIN
	FOR f IN SELECT p.oid, p.proname, p.pronargs, oidvectortypes(p.proargtypes) AS args FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE '%\_%' LOOP
		FOR a IN SELECT DISTINCT regexp_replace(f.args, '(public\.)?pgtaskd_call_\w+', t) FROM unnest(ARRAY['text', 'varchar', 'name', '"unknown"', 'anyelement', 'public.pgtaskd_call_cca4ad780bd8c1df' /* of public.task */]) AS t LOOP
			FOREACH b IN ARRAY ARRAY['a int DEFAULT 1', 'a text DEFAULT '''', b int[] DEFAULT NULL', 'VARIADIC a int[] DEFAULT ''{}''', ''] LOOP
				BEGIN
					EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS text LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $$caught$$; END''', f.proname, concat_ws(', ', nullif(a, ''), nullif(b, '')));
					made := made + 1;
				EXCEPTION WHEN OTHERS THEN NULL;
				END;
			END LOOP;
		END LOOP;
	END LOOP;
	ASSERT made > 50, made;
END $do$;
