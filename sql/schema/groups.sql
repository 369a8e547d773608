-- Records who has changed the limits of a group, and when. If somebody takes a pause back, it
-- records in until when the pause ended; if the group is paused again, it clears that.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_group_note() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.changed_by := current_user; NEW.changed_at := clock_timestamp();
    IF OLD.paused AND coalesce(OLD.until > NEW.changed_at, true) AND NOT (NEW.paused AND coalesce(NEW.until > NEW.changed_at, true)) THEN
        NEW.until := NEW.changed_at;
    ELSIF NEW.paused AND NOT OLD.paused AND NEW.until = OLD.until AND NEW.until <= NEW.changed_at THEN
        NEW.until := NULL;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_group_note IS 'Records who changes limits (:version)';

-- The lock tells the leader that a change is not committed yet: then the leader reads the limits
-- again before it starts tasks that it has read since. Others may hold the lock; then the leader
-- reads the limits all the time, so this waits at most a second. SECURITY DEFINER: a role that may
-- change limits needs no right to the sequence.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_group_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    FOR tries IN 1 .. 100 LOOP
        EXIT WHEN pg_try_advisory_xact_lock_shared(:limits + TG_RELID::int8);
        PERFORM pg_sleep(0.01);
    END LOOP;
    PERFORM nextval(pg_get_serial_sequence(TG_RELID::regclass::text, 'group'));
    PERFORM :schema.pgtaskd_tell(to_regclass(TG_ARGV[0])::oid, 'group'::text);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_group_tell IS 'Tells the leader (:version)';
