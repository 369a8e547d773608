-- The prepared transaction x that holds the lock h, if h has no backend.
LEFT JOIN LATERAL (
    SELECT p.owner, p.gid
    FROM pg_locks AS t
    JOIN pg_prepared_xacts AS p ON p.transaction = t.transactionid
    WHERE h.pid IS NULL AND t.pid IS NULL AND t.virtualtransaction = h.virtualtransaction
    LIMIT 1
) AS x ON true
