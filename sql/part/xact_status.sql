-- The server's status of the transaction with which the row t is prepared: committed, aborted, in
-- progress; NULL: it does not know any more, or the row tells of another server or database. A number
-- that is still to come may be in progress by now. x tells where we are.
CASE
    WHEN :xact_of_t IS NULL OR :xact_at_of_t <> x.here THEN NULL
    WHEN :xact_of_t >= txid_snapshot_xmax(txid_current_snapshot()) THEN 'in progress'
    WHEN :xact_of_t > 0 THEN txid_status(:xact_of_t)
END
