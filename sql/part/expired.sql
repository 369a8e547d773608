-- Of the due task t: -1 where it is under way; else, in microseconds, its active, where that has
-- passed.
CASE
        WHEN t.state OPERATOR(pg_catalog.<>) 'PLAN' THEN -1
        WHEN t.attempt OPERATOR(pg_catalog.=) 0
            AND t.active OPERATOR(pg_catalog.>) '0'
            AND t.max OPERATOR(pg_catalog.>=) 0
            AND t.catchup OPERATOR(pg_catalog.=) 0
            AND greatest(:base, t.freed) OPERATOR(pg_catalog.+) least(t.active, '10000 years') OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
            THEN least(pg_catalog.date_part('epoch', t.active) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8
    END
