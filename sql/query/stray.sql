-- Ends what sessions of an old leader have been running since before we lead, for rows that are gone or wait again: nobody else can. While one
-- of its tasks is taken and not marked it is not known which session runs that: then none is touched. Nor is any where the names of sessions could be
-- those of another table's.
-- $1 sessions that are ours, $2 beginning of the application_name of the target's sessions, $3 ids of what is under way and not run by us,
-- $4 when we came to lead
WITH other AS MATERIALIZED (
    SELECT t.state, t.pid
    FROM pg_catalog.unnest($3::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT w.state, w.pid
        FROM :table AS w
        WHERE w.id OPERATOR(pg_catalog.>=) l.id
            AND w.id OPERATOR(pg_catalog.<=) l.id
        ORDER BY w.id
    ) AS t
),
stray AS MATERIALIZED (
    SELECT a.pid
    FROM pg_catalog.pg_stat_activity AS a
    WHERE a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        AND a.backend_type OPERATOR(pg_catalog.=) 'client backend' -- parallel workers bear the names of their leaders
        AND a.usename OPERATOR(pg_catalog.=) current_user
        AND pg_catalog.left(a.application_name, pg_catalog.length($2)) OPERATOR(pg_catalog.=) $2
        AND a.state OPERATOR(pg_catalog.=) 'active'
        AND a.query_start OPERATOR(pg_catalog.<) $4
        AND a.pid OPERATOR(pg_catalog.<>) ALL ($1::pg_catalog.int4[])
        AND NOT EXISTS (SELECT FROM other AS o WHERE o.state OPERATOR(pg_catalog.=) 'TAKE' OR o.pid OPERATOR(pg_catalog.=) a.pid)
)
SELECT pg_catalog.pg_terminate_backend(s.pid)
FROM stray AS s
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(x.name) AS names
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    CROSS JOIN LATERAL (SELECT pg_catalog.concat('pg_task ', n.nspname, ' ', c.relname, ' ') AS name) AS x
    WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
        AND pg_catalog.left(x.name, pg_catalog.length($2)) OPERATOR(pg_catalog.=) $2
        AND s.pid IS NOT NULL -- only where there are any
) AS tables
WHERE tables.names OPERATOR(pg_catalog.=) ARRAY[$2::pg_catalog.text]
