-- Whether the end of e may be written to the row t: it is as it was read, as the mark of that run left
-- it, or prepared with e's transaction, which the server says now has ended as e says.
CASE
    WHEN e.xact IS NULL THEN :as_read
    ELSE t.state = 'WORK' AND t.xact = e.xact AND txid_status(e.xact) = CASE WHEN e.done THEN 'committed' ELSE 'aborted' END
END
