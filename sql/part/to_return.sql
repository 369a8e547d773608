-- Whether the row t may wait again, likewise: nothing that e has done is committed.
CASE
    WHEN e.xact IS NULL THEN :as_read
    ELSE t.state = 'WORK' AND :xact_of_t = e.xact AND txid_status(e.xact) = 'aborted'
END
