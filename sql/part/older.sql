-- Whether what made the row t began before our transaction.
((
    (t.xmin::text::int8 - txid_current() + 2147483648)
    & 4294967295
) < 2147483648)
