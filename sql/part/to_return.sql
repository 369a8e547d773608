-- Whether the row t may go back to PLAN: likewise, and nothing that e has done is committed.
CASE
    WHEN e.xact IS NULL THEN :as_read
    ELSE t.state = 'WORK' AND t.xact = e.xact AND CASE WHEN NOT :away THEN txid_status(e.xact) = 'aborted' ELSE true END
END
