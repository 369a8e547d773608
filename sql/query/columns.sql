-- A digest that changes with the table, its columns, the names of their types, its triggers and
-- those of the tables below it, its publication, the objects beside it, and the owners of all
-- these. Then whether new sessions are read-only, whether there are foreign servers, and how full
-- the queue of notifications is.
-- $1 schema, $2 table
SELECT
    (
        SELECT concat(
            c.oid, ' ', :owned,
            ' ', sum(
                hashtextextended(
                    -- built-in types do not change their names
                    concat(a.attname, ' ', CASE WHEN a.atttypid >= 16384 THEN (
                        SELECT concat(y.typname, ' ', y.typnamespace)
                        FROM pg_type AS y
                        WHERE y.oid = a.atttypid
                    ) END),
                    a.attnum
                ) + a.atttypid::int8
            ),
            ' ', (
                SELECT concat(p.oid, ' ', p.pubinsert, ' ', r.oid, ' ', to_jsonb(r) ->> 'prqual')
                FROM pg_publication AS p
                JOIN pg_publication_rel AS r ON r.prpubid = p.oid AND r.prrelid = c.oid
                WHERE p.pubname = :publication
            )
        )
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE n.nspname = $1
            AND c.relname = $2
            AND a.attnum > 0
            AND NOT a.attisdropped
        GROUP BY c.oid, n.oid, n.nspowner, n.nspacl
    ),
    coalesce(
        (
            SELECT split_part(c.setting, '=', 2)::bool
            FROM pg_db_role_setting AS s
            CROSS JOIN LATERAL unnest(s.setconfig) AS c (setting)
            WHERE c.setting ~~ E'default\\_transaction\\_read\\_only=%'
                AND s.setdatabase = ANY (ARRAY[
                    0::oid,
                    (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                ])
                AND s.setrole = ANY (ARRAY[
                    0::oid,
                    (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = session_user)
                ])
            ORDER BY
                s.setrole <> 0 DESC,
                s.setdatabase <> 0 DESC
            LIMIT 1
        ),
        current_setting('default_transaction_read_only')::bool
    ),
    EXISTS (SELECT FROM pg_foreign_server),
    pg_notification_queue_usage()
