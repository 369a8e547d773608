-- The same where there is no register: it is a client of the role's (parallel workers have the
-- names of their leaders), has a name like one of the target's, and was there when we came to lead.
-- The row old says how those names begin, and when that was. Where another
-- table's sessions could have such names, it is none.
a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
    AND a.usesysid OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::pg_catalog.regrole::pg_catalog.oid
    AND a.backend_type OPERATOR(pg_catalog.=) 'client backend'
    AND a.backend_start OPERATOR(pg_catalog.<=) old.latest
    AND pg_catalog.left(a.application_name, pg_catalog.length(old.prefix)) OPERATOR(pg_catalog.=) old.prefix
    AND (
        SELECT pg_catalog.array_agg(x.name)
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        CROSS JOIN LATERAL (SELECT pg_catalog.concat('pg_task ', n.nspname, ' ', c.relname, ' ') AS name) AS x
        WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
            AND pg_catalog.left(x.name, pg_catalog.length(old.prefix)) OPERATOR(pg_catalog.=) old.prefix
    ) OPERATOR(pg_catalog.=) ARRAY[old.prefix]
