-- Whether our transaction has written the row t: rows of others in progress are not seen. Transactions
-- that began before ours have not; of the others the whole number is compared, less than 2^31 from ours.
((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) >= 2147483648
AND txid_status(txid_current() + ((t.xmin::text::int8 - txid_current() + 2147483648) & 4294967295) - 2147483648) = 'in progress'
