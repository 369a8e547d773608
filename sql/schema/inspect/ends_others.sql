-- The numbers of the table of tokens, and of the serving role's function that writes the ends of
-- others' tasks; 0: there is none, or it is somebody else's.
-- $1 table, quoted, $2 function, with the types of its parameters
SELECT
    coalesce(pg_catalog.to_regclass($1)::pg_catalog.oid::pg_catalog.int8, 0::pg_catalog.int8),
    coalesce((
        SELECT p.oid::pg_catalog.int8
        FROM pg_catalog.pg_proc AS p
        WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure($2)::pg_catalog.oid
            AND pg_catalog.pg_get_userbyid(p.proowner) OPERATOR(pg_catalog.=) current_user
    ), 0::pg_catalog.int8)
