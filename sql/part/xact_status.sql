-- The server's status of the transaction with which the row t is prepared: committed, aborted, in
-- progress; NULL: it does not know any more, or the row tells of another server or database. A number
-- that is still to come may be in progress by now. x tells where we are.
CASE
    WHEN t.xact IS NULL OR t.xact_at <> x.here THEN NULL
    WHEN t.xact >= txid_snapshot_xmax(txid_current_snapshot()) THEN 'in progress'
    WHEN t.xact > 0 THEN txid_status(t.xact)
END
