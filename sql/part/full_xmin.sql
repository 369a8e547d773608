-- The whole number of the transaction that made the row t. That of ours has it, and the two are
-- less than 2^31 apart.
txid_current() + ((
    (t.xmin::text::int8 - txid_current() + 2147483648)
    & 4294967295
) - 2147483648)
