-- What is wrong with the tasks that one is to run after, in words; null: nothing. $1 is its own id
-- (NULL: it is there already), $3 the table. An id at or below the last one that the sequence has
-- given is that of a task which is there, or has been. Whoever may not read the sequence may name
-- any.
CREATE OR REPLACE FUNCTION :schema.pgtaskd_after_:hash(pg_catalog.int8, pg_catalog.int8[], :schema.pgtaskd_call_:hash) RETURNS pg_catalog.text LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    root pg_catalog.regclass := $3::pg_catalog.oid::pg_catalog.regclass;
    sequence pg_catalog.text;
    last pg_catalog.int8;
    unknown pg_catalog.int8;
BEGIN
    IF pg_catalog.array_ndims($2) OPERATOR(pg_catalog.>) 1 THEN
        RETURN 'after is no list of ids: it has more than one dimension';
    ELSIF pg_catalog.cardinality($2) OPERATOR(pg_catalog.>) 10000 THEN
        RETURN pg_catalog.concat('after is too long: it has ', pg_catalog.cardinality($2), ' ids, and may have 10000');
    ELSIF pg_catalog.array_position($2, NULL) IS NOT NULL THEN
        RETURN 'after has a NULL among its ids';
    ELSIF pg_catalog.array_position($2, $1) IS NOT NULL AND $1 IS NOT NULL THEN
        RETURN pg_catalog.concat('task ', $1, ' cannot run after itself');
    END IF;
    sequence := pg_catalog.pg_get_serial_sequence(root::pg_catalog.text, 'id');
    IF sequence IS NULL OR NOT pg_catalog.has_sequence_privilege(sequence, 'USAGE, SELECT') THEN
        RETURN NULL;
    END IF;
    last := coalesce(pg_catalog.pg_sequence_last_value(sequence::pg_catalog.regclass), '-9223372036854775808');
    SELECT pg_catalog.max(a.id) INTO unknown FROM pg_catalog.unnest($2) AS a (id) WHERE a.id OPERATOR(pg_catalog.>) last;
    IF unknown IS NOT NULL AND pg_catalog.has_column_privilege(root::pg_catalog.oid, 'id', 'SELECT') THEN
        EXECUTE pg_catalog.format('SELECT pg_catalog.max(a.id) FROM pg_catalog.unnest($1) AS a (id)
            WHERE a.id OPERATOR(pg_catalog.>) $2 AND NOT EXISTS (SELECT FROM %s AS t WHERE t.id OPERATOR(pg_catalog.=) a.id)', root)
            INTO unknown USING $2, last;
    END IF;
    RETURN 'after names task ' OPERATOR(pg_catalog.||) unknown::pg_catalog.text OPERATOR(pg_catalog.||) ', which does not exist';
END
$$;
