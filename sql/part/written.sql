-- Whether our transaction has written the row t: what another one in progress writes is not seen. What
-- began before ours has not; of the others the whole number is asked for, less than 2^31 from ours.
((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) >= 2147483648
AND txid_status(txid_current() + ((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) - 2147483648) = 'in progress'
