-- An error where the disk has no room for 8 MB that are gone again with the statement. It needs no
-- right, and runs with little work_mem.
WITH written AS MATERIALIZED (SELECT pg_catalog.repeat('x', 8192) FROM pg_catalog.generate_series(1, 1000) AS n)
SELECT pg_catalog.count(*) FROM written
