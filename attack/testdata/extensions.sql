-- Who may CREATE on the database installs every extension that the server trusts: in the schema public if they may create there, else in their own.
DO $kit$
DECLARE
    extension text;
    place text;
BEGIN
    CREATE SCHEMA extensions;
    GRANT USAGE ON SCHEMA extensions TO PUBLIC;
    FOR extension IN
        SELECT v.name FROM pg_catalog.pg_available_extension_versions AS v
        WHERE to_jsonb(v) ->> 'trusted' = 'true' AND NOT v.installed
        ORDER BY v.requires NULLS FIRST
    LOOP
        FOREACH place IN ARRAY '{public,extensions}'::text[] LOOP
            BEGIN
                EXECUTE format('CREATE EXTENSION %I SCHEMA %I', extension, place);
                EXIT;
            EXCEPTION WHEN OTHERS THEN RAISE LOG 'extension %: %', extension, SQLERRM; -- it is not there, or has a schema of its own
            END;
        END LOOP;
    END LOOP;
END
$kit$;
