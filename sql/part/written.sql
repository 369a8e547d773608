-- Whether our transaction has written the row t. A statement sees no rows of other open
-- transactions. A transaction that began before ours is not ours; a later one is compared by its
-- whole number, which is less than 2^31 away from ours.
((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) >= 2147483648
AND txid_status(txid_current() + ((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) - 2147483648) = 'in progress'
