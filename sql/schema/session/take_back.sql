-- Takes back at once, and by itself, what others may do with the table or the function that the
-- settings name: making it again may have to wait for locks, or fail by what others have made.
SET LOCAL pgtaskd.relation = :relation;
SET LOCAL pgtaskd.function = :function;
DO $body$
DECLARE
    relation pg_catalog.text := pg_catalog.current_setting('pgtaskd.relation');
    called pg_catalog.text := pg_catalog.current_setting('pgtaskd.function');
    revoke pg_catalog.text;
    other pg_catalog.text;
BEGIN
    IF relation OPERATOR(pg_catalog.<>) '' THEN
    :revoked
    ELSE
    :uncalled
    END IF;
END
$body$;
