-- Whether the table of controllers is no stranger's: of the owner of the type of the parameter here,
-- or of the table of tasks, or of one who can become either.
EXISTS (
    SELECT
    FROM pg_catalog.pg_type AS y
    JOIN pg_catalog.pg_class AS l ON l.relnamespace OPERATOR(pg_catalog.=) y.typnamespace
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid
    WHERE y.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(here)::pg_catalog.oid
        AND l.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:its_leader_text)::pg_catalog.oid
        AND l.relkind OPERATOR(pg_catalog.=) 'r'
        AND (pg_catalog.pg_has_role(l.relowner, y.typowner, 'MEMBER') OR pg_catalog.pg_has_role(l.relowner, c.relowner, 'MEMBER'))
)
