-- Drops the parts of $t that a leader would make again, and takes from its owner the right to make
-- them.
SET search_path = pg_catalog;

DO $kit$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT tgname FROM pg_trigger WHERE tgrelid = '$t'::regclass AND NOT tgisinternal AND tgname LIKE 'pgtaskd%' LOOP
        EXECUTE format('DROP TRIGGER %I ON $t', part.tgname);
    END LOOP;
    FOR part IN SELECT indexrelid::regclass AS index FROM pg_index WHERE indrelid = '$t'::regclass AND NOT indisprimary LOOP
        EXECUTE format('DROP INDEX %s', part.index);
    END LOOP;
    FOR part IN SELECT attname FROM pg_attribute WHERE attrelid = '$t'::regclass AND (attgenerated <> '' OR attname IN ('runs', 'notice', 'retry')) AND attname <> 'mine' LOOP
        EXECUTE format('ALTER TABLE $t DROP COLUMN %I', part.attname);
    END LOOP;
    COMMENT ON TABLE $t IS NULL;
    REVOKE CREATE ON SCHEMA $n FROM $o;
END
$kit$;

RESET search_path;
