-- Whether the table of controllers is no stranger's, who may not use the type of the parameter here.
EXISTS (
    SELECT
    FROM pg_catalog.pg_type AS y
    JOIN pg_catalog.pg_class AS l ON l.relnamespace OPERATOR(pg_catalog.=) y.typnamespace
    WHERE y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(here)::pg_catalog.oid
        AND l.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:its_leader_text)::pg_catalog.oid
        AND l.relkind OPERATOR(pg_catalog.=) 'r' AND NOT :changed_l
        AND pg_catalog.has_type_privilege(l.relowner, y.oid, 'USAGE')
)
