-- A moment: what timestamptz reads, or so much before or after now.
-- $1 a timestamptz, or NULL; $2 an interval, or NULL; $3 -1 for before
SELECT coalesce(
    $1::pg_catalog.text::pg_catalog.timestamptz,
    pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) ($2::pg_catalog.text::pg_catalog.interval OPERATOR(pg_catalog.*) $3::pg_catalog.float8)
)
