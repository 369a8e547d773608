-- The same if there is no register: it is a client of the role's (parallel workers have the names of
-- their leaders), has a name like one of the target's, and was there when we began to lead. The row
-- old says how those names begin, and when that was. If another table's sessions could have the same
-- names, there is none.
a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND a.usesysid = quote_ident(current_user)::regrole::oid
    AND a.backend_type = 'client backend'
    AND a.backend_start <= old.latest
    AND left(a.application_name, length(old.prefix)) = old.prefix
    AND (
        SELECT array_agg(x.name)
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        CROSS JOIN LATERAL (SELECT concat('pg_task ', n.nspname, ' ', c.relname, ' ') AS name) AS x
        WHERE c.relkind = ANY ('{r,p}')
            AND left(x.name, length(old.prefix)) = old.prefix
    ) = ARRAY[old.prefix]
