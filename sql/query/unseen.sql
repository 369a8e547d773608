-- Which of these transactions, whose commit stands in the write-ahead log, no statement can see
-- yet: one that waits for a standby, for instance.
-- Of their numbers the log has only the lower half.
-- $1 numbers
SELECT x.id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS x (id)
CROSS JOIN pg_catalog.txid_current_snapshot() AS now
CROSS JOIN LATERAL (SELECT pg_catalog.txid_snapshot_xmax(now) OPERATOR(pg_catalog.+) 2147483648 AS most) AS m
WHERE NOT pg_catalog.txid_visible_in_snapshot(m.most OPERATOR(pg_catalog.-) ((m.most OPERATOR(pg_catalog.-) x.id) OPERATOR(pg_catalog.&) 4294967295), now)
