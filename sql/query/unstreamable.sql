-- What keeps the role from reading the write-ahead log.
SELECT pg_catalog.concat('wal_level is ', pg_catalog.current_setting('wal_level'), ': ALTER SYSTEM SET wal_level = logical, and restart the server')
WHERE pg_catalog.current_setting('wal_level') OPERATOR(pg_catalog.<>) 'logical'
UNION ALL
SELECT pg_catalog.format('role %1$I has no right to replicate: ALTER ROLE %1$I REPLICATION', current_user)
WHERE NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_roles AS r
        WHERE r.rolname OPERATOR(pg_catalog.=) current_user
            AND (
                r.rolsuper
                OR r.rolreplication
                OR pg_catalog.pg_has_role(pg_catalog.to_regrole('rds_replication'), 'MEMBER') -- as a managed server has it
            )
    )
UNION ALL
SELECT pg_catalog.concat('no replication slot is free: ALTER SYSTEM SET max_replication_slots to more than ',
    pg_catalog.current_setting('max_replication_slots'), ', and restart the server')
WHERE (SELECT pg_catalog.count(*) FROM pg_catalog.pg_replication_slots) OPERATOR(pg_catalog.>=) pg_catalog.current_setting('max_replication_slots')::pg_catalog.int8
