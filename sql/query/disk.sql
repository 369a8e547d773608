-- Fails if the disk has no room for 8 MB of temporary file (less if temp_file_limit is lower),
-- which the end of the statement frees. It needs no rights, and runs with a small work_mem.
WITH written AS MATERIALIZED (
    SELECT repeat('x', 8192)
    FROM generate_series(1::int8, CASE
        WHEN pg_size_bytes(current_setting('temp_file_limit')) < 0 THEN 1000
        ELSE least(1000, pg_size_bytes(current_setting('temp_file_limit')) / 9000)
    END) AS n
)
SELECT count(*) FROM written
