-- The attacker's tools: a schema, and a function that logs the role under which it runs. The
-- server's log keeps that even after a rollback. The function also tries to make the attacker a
-- superuser.
CREATE SCHEMA kit AUTHORIZATION $m;
GRANT USAGE ON SCHEMA kit TO PUBLIC;
SET SESSION AUTHORIZATION $m;

CREATE FUNCTION kit.caught(what text) RETURNS void LANGUAGE plpgsql SET search_path = '' AS $kit$
BEGIN
    RAISE LOG E'CAUGHT\t%\t%\t%\t%', current_database(), current_user, session_user, what;
    BEGIN
        EXECUTE $grab$ALTER ROLE $m SUPERUSER$grab$;
    EXCEPTION WHEN OTHERS THEN
        NULL;
    END;
END
$kit$;

CREATE FUNCTION kit.fire() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $kit$
BEGIN
    PERFORM kit.caught('trigger');
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$kit$;

CREATE FUNCTION kit.yes() RETURNS bool LANGUAGE plpgsql SET search_path = '' IMMUTABLE AS $kit$
BEGIN
    PERFORM kit.caught('expression');
    RETURN true;
END
$kit$;

-- An argument keeps the planner from knowing the result.
CREATE FUNCTION kit.same(value text) RETURNS text LANGUAGE plpgsql SET search_path = '' IMMUTABLE AS $kit$
BEGIN
    PERFORM kit.caught('expression');
    RETURN value;
END
$kit$;

CREATE FUNCTION kit.holds(value text) RETURNS bool LANGUAGE plpgsql SET search_path = '' IMMUTABLE AS $kit$
BEGIN
    PERFORM kit.caught('condition');
    RETURN true;
END
$kit$;

CREATE DOMAIN kit.word AS text CHECK (kit.holds(VALUE));

CREATE DOMAIN kit.span AS interval CHECK (kit.holds(VALUE::text));

RESET SESSION AUTHORIZATION;
