-- A moment: a text that timestamptz reads, or an interval before or after now.
-- $1 a timestamptz, or NULL; $2 an interval, or NULL; $3 -1 for before
SELECT coalesce(
    $1::text::timestamptz,
    statement_timestamp() + ($2::text::interval * $3::float8)
)
