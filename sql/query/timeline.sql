-- The server's timeline: of what it writes, or of what it has replayed.
SELECT CASE
    WHEN pg_is_in_recovery() THEN greatest(
        (SELECT c.timeline_id FROM pg_control_checkpoint() AS c),
        (SELECT w.received_tli FROM pg_stat_wal_receiver AS w)
    )
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int4
END
