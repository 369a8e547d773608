-- What keeps the role from reading the write-ahead log.
SELECT 'wal_level is ' || current_setting('wal_level') || ': ALTER SYSTEM SET wal_level = logical, and restart the server'
WHERE current_setting('wal_level') <> 'logical'
UNION ALL
SELECT 'role ' || quote_ident(current_user) || ' has no right to replicate: ALTER ROLE ' || quote_ident(current_user) || ' REPLICATION'
WHERE NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_roles AS r
        WHERE r.rolname = current_user
            AND (r.rolsuper OR r.rolreplication OR pg_has_role(to_regrole('rds_replication'), 'MEMBER')) -- as a managed server has it
    )
UNION ALL
SELECT 'no replication slot is free: ALTER SYSTEM SET max_replication_slots to more than '
    || current_setting('max_replication_slots') || ', and restart the server'
WHERE (SELECT count(*) FROM pg_catalog.pg_replication_slots) >= current_setting('max_replication_slots')::int8
