-- An error where the disk has no room for 8 MB that are gone again with the statement; for less,
-- where the role may not write as much. It needs no right, and runs with little work_mem.
WITH written AS MATERIALIZED (
    SELECT pg_catalog.repeat('x', 8192)
    FROM pg_catalog.generate_series(1::pg_catalog.int8, CASE
        WHEN pg_catalog.pg_size_bytes(pg_catalog.current_setting('temp_file_limit')) OPERATOR(pg_catalog.<) 0 THEN 1000
        ELSE least(1000, pg_catalog.pg_size_bytes(pg_catalog.current_setting('temp_file_limit')) OPERATOR(pg_catalog./) 9000)
    END) AS n
)
SELECT pg_catalog.count(*) FROM written
