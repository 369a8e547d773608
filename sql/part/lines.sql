-- How many rows a page can hold at most.
(current_setting('block_size')::int4 - 24) / 28
