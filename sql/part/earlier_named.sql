-- The same without a register. The backend must be a client of our role (parallel workers have
-- their leader's name), its name must begin like the target's, and it must be there since before
-- our term. The row old has the beginning of the names and that time. No backend matches if another
-- table's sessions could have the same names.
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
