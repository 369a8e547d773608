-- What changes when the table, its columns, its triggers or its publication do; whether sessions that are opened now may not write; whether there are
-- foreign servers; and how full the queue of notifications is.
-- $1 schema, $2 table
SELECT
    (
        SELECT concat(
            c.oid,
            ' ', sum(pg_catalog.hashtextextended(a.attname::text, a.attnum) + a.atttypid::int8),
            ' ', (SELECT sum(pg_catalog.hashtext(g.tgname::text || g.tgenabled::text)) FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
            ' ', (
                SELECT concat(p.oid, ' ', p.pubinsert, ' ', r.oid, ' ', pg_catalog.to_jsonb(r) ->> 'prqual')
                FROM pg_catalog.pg_publication AS p
                LEFT JOIN pg_catalog.pg_publication_rel AS r ON r.prpubid = p.oid AND r.prrelid = c.oid
                WHERE p.pubname = :publication
            )
        )
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
        WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
        GROUP BY c.oid
    ),
    coalesce(
        (
            SELECT split_part(c.setting, '=', 2)::bool
            FROM pg_catalog.pg_db_role_setting AS s
            CROSS JOIN LATERAL unnest(s.setconfig) AS c (setting)
            WHERE c.setting LIKE E'default\\_transaction\\_read\\_only=%'
                AND s.setdatabase IN (0, (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()))
                AND s.setrole IN (0, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user))
            ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
            LIMIT 1
        ),
        pg_catalog.current_setting('default_transaction_read_only')::bool
    ),
    EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
    pg_catalog.pg_notification_queue_usage()
