-- Whether nobody but the serving role could write to the table of tokens c since it was made: the
-- trigger that keeps others from it is the one that its comment tells of, and was not changed since.
EXISTS (
    SELECT
    FROM pg_catalog.pg_trigger AS g
    JOIN pg_catalog.pg_description AS d ON d.objoid OPERATOR(pg_catalog.=) g.tgrelid AND d.objsubid OPERATOR(pg_catalog.=) 0
        AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
        AND d.description OPERATOR(pg_catalog.~) pg_catalog.concat(:end, g.tgrelid, '-', g.xmin, '$')
    WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_token' AND g.tgenabled OPERATOR(pg_catalog.=) 'A'
        AND g.tgtype OPERATOR(pg_catalog.=) 31::pg_catalog.int2 -- BEFORE INSERT OR UPDATE OR DELETE FOR EACH ROW
)
