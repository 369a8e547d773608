-- What changes when the table, its columns, the names of their types, its triggers and those of the
-- tables below it, its publication, its register of sessions, what stands beside it, the functions
-- that are called with arguments, or the owner of any of this do; whether sessions that are opened
-- now may not write; whether there are foreign servers; and how full the queue of notifications is.
-- $1 schema, $2 table
SELECT
    (
        SELECT pg_catalog.concat(
            c.oid, ' ', :owned,
            ' ', pg_catalog.sum(
                pg_catalog.hashtextextended(
                    pg_catalog.concat(a.attname, ' ', CASE WHEN a.atttypid OPERATOR(pg_catalog.>=) 16384 THEN ( -- no name of the server's own changes
                        SELECT pg_catalog.concat(y.typname, ' ', y.typnamespace)
                        FROM pg_catalog.pg_type AS y
                        WHERE y.oid OPERATOR(pg_catalog.=) a.atttypid
                    ) END),
                    a.attnum
                ) OPERATOR(pg_catalog.+) a.atttypid::pg_catalog.int8
            ),
            ' ', (
                SELECT pg_catalog.concat(p.oid, ' ', p.pubinsert, ' ', r.oid, ' ', pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'prqual')
                FROM pg_catalog.pg_publication AS p
                LEFT JOIN pg_catalog.pg_publication_rel AS r ON r.prpubid OPERATOR(pg_catalog.=) p.oid AND r.prrelid OPERATOR(pg_catalog.=) c.oid
                WHERE p.pubname OPERATOR(pg_catalog.=) :publication
                    AND (r.oid IS NOT NULL OR :publication_taken) -- nobody else may put the table into one
            )
        )
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
        WHERE n.nspname OPERATOR(pg_catalog.=) $1
            AND c.relname OPERATOR(pg_catalog.=) $2
            AND a.attnum OPERATOR(pg_catalog.>) 0
            AND NOT a.attisdropped
        GROUP BY c.oid, c.relowner, n.oid, n.nspowner
    ),
    coalesce(
        (
            SELECT pg_catalog.split_part(c.setting, '=', 2)::pg_catalog.bool
            FROM pg_catalog.pg_db_role_setting AS s
            CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c (setting)
            WHERE c.setting OPERATOR(pg_catalog.~~) E'default\\_transaction\\_read\\_only=%'
                AND s.setdatabase OPERATOR(pg_catalog.=) ANY (ARRAY[
                    0::pg_catalog.oid,
                    (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
                ])
                AND s.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[
                    0::pg_catalog.oid,
                    (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) current_user)
                ])
            ORDER BY
                s.setrole OPERATOR(pg_catalog.<>) 0 DESC,
                s.setdatabase OPERATOR(pg_catalog.<>) 0 DESC
            LIMIT 1
        ),
        pg_catalog.current_setting('default_transaction_read_only')::pg_catalog.bool
    ),
    EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
    pg_catalog.pg_notification_queue_usage()
