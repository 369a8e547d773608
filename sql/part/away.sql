-- Whether the row t is prepared with a transaction on its remote: the place of such a transaction
-- has a third part, the timeline. Only the remote knows how it has ended.
(t.xact_at LIKE '%/%/%') IS TRUE
