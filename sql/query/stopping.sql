-- What was set to STOP while it was under way, and shows no end yet. Group and remote are as in scan.
SELECT
    t.id,
    CASE
        WHEN pg_catalog.octet_length(t."group") OPERATOR(pg_catalog.>) 65536 THEN pg_catalog.concat(pg_catalog.chr(1), pg_catalog.octet_length(t."group"))
        WHEN pg_catalog.octet_length(t."group") OPERATOR(pg_catalog.>) 1000 THEN pg_catalog.concat(pg_catalog.chr(1),
            pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(t."group", pg_catalog.getdatabaseencoding())), 'hex'))
        ELSE t."group"
    END,
    coalesce(CASE
        WHEN pg_catalog.octet_length(t.remote) OPERATOR(pg_catalog.>) 65536 THEN pg_catalog.concat(pg_catalog.chr(1), pg_catalog.octet_length(t.remote))
        WHEN pg_catalog.octet_length(t.remote) OPERATOR(pg_catalog.>) 1000 THEN pg_catalog.concat(pg_catalog.chr(1),
            pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(t.remote, pg_catalog.getdatabaseencoding())), 'hex'))
        ELSE t.remote
    END, '')
FROM :table AS t
WHERE t.due IS NULL -- behind all that is due, in its index
    AND t.stopping
    AND t.state OPERATOR(pg_catalog.=) 'STOP'
    AND t.stop IS NULL
