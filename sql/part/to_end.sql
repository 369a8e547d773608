-- Whether the row t takes the end of e: it is as it was read, as the mark of this run left it, or
-- prepared with e's transaction, and the server says that this ended as e says. If that is on a
-- remote, the run has seen how it ended.
CASE
    WHEN e.xact IS NULL THEN :as_read
    ELSE t.state = 'WORK' AND t.xact = e.xact AND CASE WHEN NOT :away THEN txid_status(e.xact) = CASE WHEN e.done THEN 'committed' ELSE 'aborted' END ELSE true END
END
