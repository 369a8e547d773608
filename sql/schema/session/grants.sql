-- What the role needs that serves the table, as far as it lacks it.

SET LOCAL pgtaskd.role = :role;
SET LOCAL pgtaskd.relation = :relation;
SET LOCAL pgtaskd.leader = :leader;
SET LOCAL pgtaskd.groups = :groups;

DO $pgtaskd$
DECLARE
    lacking pg_catalog.text;
BEGIN
    FOR lacking IN
        SELECT g.statement
        FROM (
            SELECT pg_catalog.current_setting('pgtaskd.role')::pg_catalog.name AS role,
                pg_catalog.to_regclass(pg_catalog.current_setting('pgtaskd.relation'))::pg_catalog.oid AS relation
        ) AS a
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.relation
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        CROSS JOIN LATERAL (
            SELECT pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', n.nspname, a.role) AS statement
            WHERE NOT pg_catalog.has_schema_privilege(a.role, n.oid, 'USAGE')
            UNION ALL
            SELECT pg_catalog.format('GRANT %s ON TABLE %I.%I TO %I', r.name, n.nspname, c.relname, a.role)
            FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (name)
            WHERE NOT pg_catalog.has_table_privilege(a.role, c.oid, r.name)
            UNION ALL
            SELECT pg_catalog.format('GRANT %s ON TABLE %s TO %I', r.name, pg_catalog.current_setting('pgtaskd.register'), a.role)
            FROM (VALUES ('SELECT'), ('INSERT'), ('DELETE')) AS r (name)
            WHERE NOT pg_catalog.has_table_privilege(a.role, pg_catalog.current_setting('pgtaskd.register'), r.name)
            UNION ALL
            SELECT CASE
                WHEN r.name OPERATOR(pg_catalog.=) 'SEQUENCE' THEN pg_catalog.format('GRANT SELECT ON SEQUENCE %s TO %I', q.oid::pg_catalog.regclass, a.role)
                ELSE pg_catalog.format('GRANT %s ON TABLE %s TO %I', r.name, b.name, a.role)
            END
            FROM (VALUES (pg_catalog.current_setting('pgtaskd.leader')), (pg_catalog.current_setting('pgtaskd.groups'))) AS b (name)
            JOIN pg_catalog.pg_class AS l ON l.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(b.name)::pg_catalog.oid
            CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE'), ('SEQUENCE')) AS r (name)
            LEFT JOIN pg_catalog.pg_depend AS d ON r.name OPERATOR(pg_catalog.=) 'SEQUENCE'
                AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
                AND d.classid OPERATOR(pg_catalog.=) d.refclassid
                AND d.refobjid OPERATOR(pg_catalog.=) l.oid
                AND d.deptype OPERATOR(pg_catalog.=) 'a'::pg_catalog."char"
            LEFT JOIN pg_catalog.pg_class AS q ON q.oid OPERATOR(pg_catalog.=) d.objid AND q.relkind OPERATOR(pg_catalog.=) 'S'
            WHERE l.relowner OPERATOR(pg_catalog.=) c.relowner
                AND CASE
                    WHEN r.name OPERATOR(pg_catalog.=) 'SEQUENCE' THEN q.oid IS NOT NULL AND NOT pg_catalog.has_sequence_privilege(a.role, q.oid, 'SELECT')
                    ELSE NOT pg_catalog.has_table_privilege(a.role, l.oid, r.name)
                END
                AND EXISTS (
                    SELECT
                    FROM pg_catalog.pg_description AS s
                    WHERE s.objoid OPERATOR(pg_catalog.=) l.oid
                        AND s.classoid OPERATOR(pg_catalog.=) l.tableoid
                        AND s.objsubid OPERATOR(pg_catalog.=) 0
                        AND s.description OPERATOR(pg_catalog.~) '[(]pgtaskd schema [0-9]'
                )
            UNION ALL
            SELECT pg_catalog.format('GRANT USAGE ON SEQUENCE %s TO %I', s.oid::pg_catalog.regclass, a.role)
            FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.objid
            WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
                AND d.classid OPERATOR(pg_catalog.=) d.refclassid
                AND d.refobjid OPERATOR(pg_catalog.=) c.oid
                AND d.deptype OPERATOR(pg_catalog.=) ANY ('{a,i}'::pg_catalog."char"[])
                AND CASE WHEN s.relkind OPERATOR(pg_catalog.=) 'S' THEN NOT pg_catalog.has_sequence_privilege(a.role, s.oid, 'USAGE') END
        ) AS g
    LOOP
        EXECUTE lacking;
    END LOOP;
END
$pgtaskd$;
