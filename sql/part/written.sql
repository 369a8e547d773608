-- Whether our transaction has written the row t: what another one in progress writes is not seen.
NOT :older
AND pg_catalog.txid_status(:full_xmin) OPERATOR(pg_catalog.=) 'in progress'
