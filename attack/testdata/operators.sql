-- Operators in schema $n that fit comparisons, additions and concatenations better than the
-- catalog's. Each logs the role under which it runs.
SET search_path = pg_catalog;

DO $kit$
DECLARE
    types text[] := '{text,name,"\"char\"",int2,int4,int8,float8,numeric,bool,timestamptz,timestamp,interval,oid,regclass,xid,jsonb,text[],name[],int8[]}';
    pair record;
    sign text;
    signs text[];
BEGIN
    FOR pair IN
        SELECT l, r FROM unnest(types) AS l, unnest(types) AS r
        UNION ALL
        SELECT a, a FROM unnest('{anyelement,anyarray,anyenum,anynonarray}'::text[]) AS a
    LOOP
        signs := '{=,<>,<,>,<=,>=,||,+,-}';
        IF pair.r IN ('text', 'name', 'text[]', 'int4', 'anyelement', 'anynonarray') THEN
            signs := signs || '{~~,!~~,~,!~,->,->>,*,/,@>,&&}'::text[];
        END IF;
        EXECUTE format('CREATE FUNCTION $n.op(%1$s, %2$s) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN PERFORM kit.caught(%3$L); RETURN NULL; END $f$',
            pair.l, pair.r, format('operator (%s, %s)', pair.l, pair.r));
        FOREACH sign IN ARRAY signs LOOP
            IF NOT EXISTS (
                SELECT FROM pg_operator WHERE oprname = sign AND oprnamespace = 'pg_catalog'::regnamespace
                    AND oprleft = pair.l::regtype AND oprright = pair.r::regtype
            ) THEN
                EXECUTE format('CREATE OPERATOR $n.%s (FUNCTION = $n.op, LEFTARG = %s, RIGHTARG = %s)', sign, pair.l, pair.r);
            END IF;
        END LOOP;
    END LOOP;
END
$kit$;

RESET search_path;
