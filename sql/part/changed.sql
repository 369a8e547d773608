-- Whether the row of a catalog that we see is not the newest: another transaction has committed a
-- newer one, or has deleted it, since the snapshot that we see it by. What acts goes by the newest.
-- One in progress does not count, nor one that was rolled back, nor where each statement has a new
-- snapshot: a GRANT of nothing makes a newer row, and whoever has any right can do that all the time.
-- The whole number of it is less than 2^31 from that of the snapshot, which is had without writing
-- anything.
CASE WHEN :row.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid
    AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) ANY ('{repeatable read,serializable}') THEN pg_catalog.txid_status(
    pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot()) OPERATOR(pg_catalog.+) ((
        (:row.xmax::pg_catalog.text::pg_catalog.int8 OPERATOR(pg_catalog.-) pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot()) OPERATOR(pg_catalog.+) 2147483648)
        OPERATOR(pg_catalog.&) 4294967295
    ) OPERATOR(pg_catalog.-) 2147483648)
) OPERATOR(pg_catalog.=) 'committed' ELSE false END
