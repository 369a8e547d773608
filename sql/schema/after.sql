-- What is wrong with the tasks that one is to run after, in words; null: nothing. own is null where
-- the task is there already. An id at or below the last one that the sequence has given is that of
-- a task which is there, or has been. Whoever may not read the sequence may name any.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_after(own int8, wanted int8[], root regclass) RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sequence text; last int8; unknown int8;
BEGIN
    IF array_ndims(wanted) > 1 THEN
        RETURN 'after is no list of ids: it has more than one dimension';
    ELSIF cardinality(wanted) > 10000 THEN
        RETURN concat('after is too long: it has ', cardinality(wanted), ' ids, and may have 10000');
    ELSIF array_position(wanted, NULL) IS NOT NULL THEN
        RETURN 'after has a NULL among its ids';
    ELSIF own = ANY (wanted) THEN
        RETURN concat('task ', own, ' cannot run after itself');
    END IF;
    sequence := pg_get_serial_sequence(root::text, 'id');
    IF sequence IS NULL OR NOT has_sequence_privilege(sequence, 'USAGE, SELECT') THEN RETURN NULL; END IF;
    last := coalesce(pg_sequence_last_value(sequence::regclass), '-9223372036854775808');
    SELECT max(a.id) INTO unknown FROM unnest(wanted) AS a (id) WHERE a.id > last;
    IF unknown IS NOT NULL AND has_column_privilege(root::oid, 'id', 'SELECT') THEN
        EXECUTE format('SELECT max(a.id) FROM unnest($1) AS a (id)
            WHERE a.id > $2 AND NOT EXISTS (SELECT FROM %s AS t WHERE t.id = a.id)', root)
            INTO unknown USING wanted, last;
    END IF;
    RETURN 'after names task ' || unknown::text || ', which does not exist';
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_after IS 'What is wrong with after; null: nothing (:version)';
