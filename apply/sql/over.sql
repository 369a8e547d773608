-- Whether a series with that until is over.
-- $1 until
SELECT $1::pg_catalog.text::pg_catalog.timestamptz OPERATOR(pg_catalog.<) pg_catalog.statement_timestamp()
