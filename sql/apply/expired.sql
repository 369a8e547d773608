-- Whether a series with that until is over.
-- $1 until
SELECT $1::text::timestamptz < statement_timestamp()
