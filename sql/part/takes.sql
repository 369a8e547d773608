-- Whether the row t takes the entry e of the ledger: the row has not changed since it was read, and
-- nothing follows its end. A DONE of a transaction on a remote: the run has seen its COMMIT.
CASE
    WHEN e.what IN ('d', 's') AND e.xact IS NOT NULL
        THEN t.state = 'WORK' AND t.xact = e.xact AND CASE WHEN NOT :away THEN txid_status(e.xact) = 'committed' ELSE true END
    ELSE :as_read
END
AND (e.what NOT IN ('d', 's') OR NOT :followed)
