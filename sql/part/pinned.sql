-- From here to the end of the transaction values are written as texts that two sessions have alike.
SELECT num_nulls(
    set_config('TimeZone', 'UTC', true),
    set_config('IntervalStyle', 'postgres', true),
    set_config('bytea_output', 'hex', true),
    set_config('extra_float_digits', '1', true),
    set_config('xmlbinary', 'base64', true)
) AS pinned
