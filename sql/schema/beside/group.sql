-- Limits for groups. Default privileges may give a new table to others: who may write here keeps
-- tasks from starting, so they are revoked.
-- The leader knows by the sequence that something has changed, and by the lock that a change is not
-- committed yet: it reads the rows again then, before it starts what it has read since. Others may
-- hold the lock; then it reads them all the time, so nobody waits for it for long.
CREATE TABLE IF NOT EXISTS :its_group (
    "group" pg_catalog.text PRIMARY KEY
        CONSTRAINT pgtaskd_group_check CHECK (pg_catalog.octet_length("group") OPERATOR(pg_catalog.<=) 65536
            AND (pg_catalog.right("group", 1) OPERATOR(pg_catalog.<>) '%' OR pg_catalog.octet_length("group") OPERATOR(pg_catalog.<=) 100)),
    paused pg_catalog.bool NOT NULL DEFAULT false,
    until pg_catalog.timestamptz,
    slots pg_catalog.int4 CONSTRAINT pgtaskd_slots_check CHECK (slots OPERATOR(pg_catalog.>=) 0),
    rate pg_catalog.int4 CONSTRAINT pgtaskd_rate_check CHECK (rate OPERATOR(pg_catalog.>) 0),
    per pg_catalog.interval CONSTRAINT pgtaskd_per_check CHECK (per OPERATOR(pg_catalog.>) '0' AND per OPERATOR(pg_catalog.<=) '100 years'
        AND pg_catalog.date_part('epoch', per) OPERATOR(pg_catalog.>) 0),
    note pg_catalog.text,
    changed_by pg_catalog.text,
    changed_at pg_catalog.timestamptz,
    CONSTRAINT pgtaskd_rate_per_check CHECK ((rate IS NULL) OPERATOR(pg_catalog.=) (per IS NULL))
);
CREATE SEQUENCE IF NOT EXISTS :schema.pgtaskd_group_:hash;
ALTER SEQUENCE :schema.pgtaskd_group_:hash CYCLE OWNED BY :its_group."group"; -- whatever it has been set to, it counts on
SET LOCAL pgtaskd.relation = :its_group_text;
DO $body$
DECLARE
    relation pg_catalog.text := pg_catalog.current_setting('pgtaskd.relation');
    revoke pg_catalog.text;
    number pg_catalog.oid := pg_catalog.to_regclass(relation)::pg_catalog.oid;
    here pg_catalog.text;
    made pg_catalog.text[] := ARRAY[relation];
    other pg_catalog.text;
BEGIN
    :here
    :ours
    IF NOT
        :sealed
    THEN
    :private
    :unwatched
    END IF;
END
$body$;
DROP TRIGGER IF EXISTS pgtaskd_note ON :its_group;
DROP TRIGGER IF EXISTS pgtaskd_tell ON :its_group;
DO $body$
DECLARE
    place pg_catalog.text := pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_group_');
    functions pg_catalog.text[] := ARRAY[pg_catalog.concat(place, 'note_:hash()'), pg_catalog.concat(place, 'tell_:hash()')];
    called pg_catalog.text;
BEGIN
    :make_way
END
$body$;
-- Who has changed the row, and when. Of a pause that is taken back it notes in until when it has
-- ended, and takes that out when the group is paused again.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_group_note_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
    NEW.changed_by := current_user;
    NEW.changed_at := pg_catalog.clock_timestamp();
    IF TG_OP OPERATOR(pg_catalog.=) 'INSERT' THEN
        RETURN NEW;
    END IF;
    IF OLD.paused AND coalesce(OLD.until OPERATOR(pg_catalog.>) NEW.changed_at, true)
        AND NOT (NEW.paused AND coalesce(NEW.until OPERATOR(pg_catalog.>) NEW.changed_at, true)) THEN
        NEW.until := NEW.changed_at;
    ELSIF NEW.paused AND NOT OLD.paused AND NEW.until OPERATOR(pg_catalog.=) OLD.until AND NEW.until OPERATOR(pg_catalog.<=) NEW.changed_at THEN
        NEW.until := NULL;
    END IF;
    RETURN NEW;
END
$body$;
CREATE OR REPLACE FUNCTION :schema.pgtaskd_group_tell_:hash() RETURNS pg_catalog.trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    tries pg_catalog.int4 := 0;
BEGIN
    WHILE tries OPERATOR(pg_catalog.<) 100 AND NOT pg_catalog.pg_try_advisory_xact_lock_shared(:limits OPERATOR(pg_catalog.+) TG_RELID::pg_catalog.int8) LOOP
        tries := tries OPERATOR(pg_catalog.+) 1;
        PERFORM pg_catalog.pg_sleep(0.01);
    END LOOP;
    PERFORM pg_catalog.nextval(:limits_text::pg_catalog.regclass);
    PERFORM pg_catalog.pg_notify('pgtaskd_:hash', 'group') WHERE pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.<) 0.9;
    RETURN NULL;
END
$body$;
CREATE TRIGGER pgtaskd_note BEFORE INSERT OR UPDATE ON :its_group
    FOR EACH ROW EXECUTE FUNCTION :schema.pgtaskd_group_note_:hash();
CREATE TRIGGER pgtaskd_tell AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE ON :its_group
    FOR EACH STATEMENT EXECUTE FUNCTION :schema.pgtaskd_group_tell_:hash();
DO $body$
DECLARE
    place pg_catalog.text := pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_group_');
    made pg_catalog.text[] := ARRAY[pg_catalog.concat(place, 'note_:hash()'), pg_catalog.concat(place, 'tell_:hash()')];
    called pg_catalog.text;
    other pg_catalog.text;
BEGIN
    :ours
    SELECT g.tgfoid::pg_catalog.regprocedure INTO called
    FROM pg_catalog.pg_trigger AS g
    WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(pg_catalog.current_setting('pgtaskd.relation'))::pg_catalog.oid
        AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_tell';
    :uncalled
END
$body$;
COMMENT ON TABLE :its_group IS 'Limits for groups of tasks (:made)';
COMMENT ON COLUMN :its_group."group" IS 'The group; one that ends in % stands for each group that begins so, by itself';
COMMENT ON COLUMN :its_group.paused IS 'None of its tasks starts';
COMMENT ON COLUMN :its_group.until IS 'When the pause ends, or has ended; null: when paused is set to false';
COMMENT ON COLUMN :its_group.slots IS 'Most tasks that run at once, over all remotes';
COMMENT ON COLUMN :its_group.rate IS 'Most tasks that start in any stretch of the length of per';
COMMENT ON COLUMN :its_group.per IS 'The stretch that rate counts in';
COMMENT ON COLUMN :its_group.note IS 'For people';
COMMENT ON COLUMN :its_group.changed_by IS 'Who changed the row last';
COMMENT ON COLUMN :its_group.changed_at IS 'When';
