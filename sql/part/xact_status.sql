-- The server's status of the transaction with which the row t is prepared: committed, aborted, in
-- progress. NULL: the server does not remember it, or the row was prepared on another server or in
-- another database (x has ours). A number not yet given out counts as in progress, since it may be
-- in use by the time we look.
CASE
    WHEN t.xact IS NULL OR t.xact_at <> x.here THEN NULL
    WHEN t.xact >= txid_snapshot_xmax(txid_current_snapshot()) THEN 'in progress'
    WHEN t.xact > 0 THEN txid_status(t.xact)
END
