-- Says what is wrong with the list of tasks in after; null: nothing. own is null if the task exists
-- already. An id up to the last one that the sequence has given belongs to a task that exists or
-- has existed. A role that may not read the sequence may name any id.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_after(own int8, wanted int8[], root regclass) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence text := pg_get_serial_sequence(root::text, 'id');
    last int8; unknown int8;
BEGIN
    IF array_ndims(wanted) > 1 OR array_position(wanted, NULL) IS NOT NULL THEN
        RETURN 'after is no list of ids';
    ELSIF cardinality(wanted) > 10000 THEN
        RETURN 'after is too long: it may have 10000 ids';
    ELSIF own = ANY (wanted) THEN
        RETURN 'after names the task itself';
    ELSIF has_sequence_privilege(sequence, 'USAGE, SELECT') THEN
        last := coalesce(pg_sequence_last_value(sequence::regclass), '-9223372036854775808');
        SELECT max(a.id) INTO unknown FROM unnest(wanted) AS a (id) WHERE a.id > last;
        IF unknown IS NOT NULL AND has_column_privilege(root::oid, 'id', 'SELECT') THEN
            EXECUTE format('SELECT max(a.id) FROM unnest($1) AS a (id) WHERE a.id > $2 AND NOT EXISTS (SELECT FROM %s AS t WHERE t.id = a.id)', root)
                INTO unknown USING wanted, last;
        END IF;
    END IF;
    RETURN 'after names task ' || unknown::text || ', which does not exist';
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_after IS 'Says what is wrong with after (:version)';
