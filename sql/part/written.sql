-- Whether our transaction has written the row t: what another one in progress writes is not seen.
NOT :older
AND txid_status(:full_xmin) = 'in progress'
