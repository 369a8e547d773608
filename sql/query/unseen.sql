-- The transactions whose commit is in the write-ahead log, but which no statement sees yet: one may
-- wait for a standby, for instance. The log has only the lower half of their numbers.
-- $1 numbers
SELECT x.id
FROM unnest($1::int8[]) AS x (id)
CROSS JOIN txid_current_snapshot() AS now
CROSS JOIN LATERAL (SELECT txid_snapshot_xmax(now) + 2147483648 AS most) AS m
WHERE NOT txid_visible_in_snapshot(m.most - ((m.most - x.id) & 4294967295), now)
