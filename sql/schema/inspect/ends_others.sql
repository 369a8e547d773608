-- The numbers of the table of tokens, and of the serving role's function that writes the ends of
-- others' tasks; 0: there is none, or it is somebody else's.
-- $1 table, quoted, $2 function, with the types of its parameters
SELECT
    coalesce(to_regclass($1)::oid::int8, 0::int8),
    coalesce((
        SELECT p.oid::int8
        FROM pg_proc AS p
        WHERE p.oid = to_regprocedure($2)::oid
            AND pg_get_userbyid(p.proowner) = current_user
    ), 0::int8)
