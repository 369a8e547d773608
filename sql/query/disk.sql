-- An error where the disk has no room for 8 MB that are gone again with the statement; for less,
-- where the role may not write as much. It needs no right, and runs with little work_mem.
WITH written AS MATERIALIZED (
    SELECT repeat('x', 8192)
    FROM generate_series(1::int8, CASE
        WHEN pg_size_bytes(current_setting('temp_file_limit')) < 0 THEN 1000
        ELSE least(1000, pg_size_bytes(current_setting('temp_file_limit')) / 9000)
    END) AS n
)
SELECT count(*) FROM written
