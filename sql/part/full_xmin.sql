-- The whole number of the transaction that made the row t. That of ours has it, and the two are
-- less than 2^31 apart.
pg_catalog.txid_current() OPERATOR(pg_catalog.+) ((
    (t.xmin::pg_catalog.text::pg_catalog.int8 OPERATOR(pg_catalog.-) pg_catalog.txid_current() OPERATOR(pg_catalog.+) 2147483648)
    OPERATOR(pg_catalog.&) 4294967295
) OPERATOR(pg_catalog.-) 2147483648)
