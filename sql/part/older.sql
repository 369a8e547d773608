-- Whether what made the row t began before our transaction.
((
    (t.xmin::pg_catalog.text::pg_catalog.int8 OPERATOR(pg_catalog.-) pg_catalog.txid_current() OPERATOR(pg_catalog.+) 2147483648)
    OPERATOR(pg_catalog.&) 4294967295
) OPERATOR(pg_catalog.<) 2147483648)
