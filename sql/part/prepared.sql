-- The prepared transaction x that holds the lock h, which has no backend.
LEFT JOIN LATERAL (
    SELECT p.owner, p.gid
    FROM pg_catalog.pg_locks AS t
    JOIN pg_catalog.pg_prepared_xacts AS p ON p.transaction OPERATOR(pg_catalog.=) t.transactionid
    WHERE h.pid IS NULL AND t.pid IS NULL AND t.virtualtransaction OPERATOR(pg_catalog.=) h.virtualtransaction
    LIMIT 1
) AS x ON true
