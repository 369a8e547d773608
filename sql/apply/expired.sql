-- Tells whether until has passed, so that a series with it has ended.
-- $1 until
SELECT $1::text::timestamptz < statement_timestamp()
