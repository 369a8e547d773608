-- The reasons why the role cannot read the write-ahead log.
SELECT concat('wal_level is ', current_setting('wal_level'), ': ALTER SYSTEM SET wal_level = logical, and restart the server')
WHERE current_setting('wal_level') <> 'logical'
UNION ALL
SELECT format('role %1$I has no right to replicate: ALTER ROLE %1$I REPLICATION', session_user)
WHERE NOT EXISTS (
        SELECT
        FROM pg_roles AS r
        WHERE r.rolname = session_user
            AND (
                r.rolsuper
                OR r.rolreplication
                OR pg_has_role(r.oid, to_regrole('rds_replication'), 'MEMBER') -- managed servers have this role
            )
    )
UNION ALL
SELECT concat('no replication slot is free: ALTER SYSTEM SET max_replication_slots to more than ',
    current_setting('max_replication_slots'), ', and restart the server')
WHERE (SELECT count(*) FROM pg_replication_slots) >= current_setting('max_replication_slots')::int8
