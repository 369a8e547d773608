-- Ends a function of ours, whose parameter here is of the type that only such functions take, where
-- the table is not in the schema of that type, or is a stranger's, who may not use the type: its
-- name, or the schema's, has come to be somebody else's since the function was made. So it does
-- where the table's owner is seen as it was long ago, and where somebody who has been given the type
-- has put a constraint there, which runs as who makes a value of it. The table is locked before that
-- look, and so waited for, as a SELECT locks it, where who asks has the right to.
:unheld
IF EXISTS (
    SELECT
    FROM pg_catalog.pg_class AS c
    WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
        AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
) THEN
    LOCK TABLE ONLY :table IN ACCESS SHARE MODE;
END IF;
IF NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_type AS y
    JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) y.typnamespace
    WHERE y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(here)::pg_catalog.oid
        AND c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid
        AND pg_catalog.has_type_privilege(c.relowner, y.oid, 'USAGE')
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) y.oid)
) THEN
    RAISE EXCEPTION 'table % is not the one that this was made for', :table_text USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'It was dropped or renamed, or its schema was, or it was given to another owner. pgtaskd makes this anew where it serves a table and may; else run the output of pgtaskd schema.';
ELSIF EXISTS (
    SELECT
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(here)::pg_catalog.oid
    WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid AND (:changed_c OR :changed_y)
) THEN
    RAISE EXCEPTION 'table % has been changed since this transaction began', :table_text USING ERRCODE = 'serialization_failure', HINT = 'Begin another transaction.';
END IF;
