-- Operators on the type of the column state, and between it and other types.
SET search_path = pg_catalog;

DO $kit$
DECLARE
    state text := (SELECT format_type(a.atttypid, NULL) FROM pg_attribute AS a WHERE a.attrelid = to_regclass('$t') AND a.attname = 'state');
    pair text[];
    sign text;
BEGIN
    IF state IS NULL THEN
        RETURN; -- the table was refused
    END IF;
    FOREACH pair SLICE 1 IN ARRAY ARRAY[[state, state], [state, 'text'], ['text', state], [state, 'name']] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_operator WHERE oprleft = pair[1]::regtype AND oprright = pair[2]::regtype AND oprnamespace = 'public'::regnamespace);
        EXECUTE format('CREATE FUNCTION public.op(%1$s, %2$s) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%3$L); RETURN NULL; END $f$',
            pair[1], pair[2], format('operator (%s, %s)', pair[1], pair[2]));
        FOREACH sign IN ARRAY '{=,<>,<,>,<=,>=,||,~~}'::text[] LOOP
            EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.op, LEFTARG = %s, RIGHTARG = %s)', sign, pair[1], pair[2]);
        END LOOP;
    END LOOP;
END
$kit$;

RESET search_path;
