-- From here to the end of the transaction values are written as texts that two sessions have alike.
SELECT pg_catalog.num_nulls(
    pg_catalog.set_config('TimeZone', 'UTC', true),
    pg_catalog.set_config('IntervalStyle', 'postgres', true),
    pg_catalog.set_config('bytea_output', 'hex', true),
    pg_catalog.set_config('extra_float_digits', '1', true),
    pg_catalog.set_config('xmlbinary', 'base64', true)
) AS pinned
