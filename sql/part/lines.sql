-- How many rows a page can hold at most.
(pg_catalog.current_setting('block_size')::pg_catalog.int4 OPERATOR(pg_catalog.-) 24) OPERATOR(pg_catalog./) 28
