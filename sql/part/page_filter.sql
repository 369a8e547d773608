-- The tasks t that pass a filter of the page. It does not bound the ids: a search looks only in the
-- newest rows. pgtaskd ls has its own :page_group and :page_since.
-- $1 states, $2 group, $3 key, $4 id, $5 least plan, $6 the plan before which, $7 a text, $8 and
-- $9 whether input and data are hidden, $10 the SQLSTATE (none: NULL), $11 the first line of the
-- error as it is shown
($1::text[] IS NULL OR textin(enum_out(t.state)) = ANY ($1::text[]))
    AND ($2::text IS NULL OR :page_group = $2::text)
    AND ($3::text IS NULL OR t.key = $3::text)
    AND ($4::int8 IS NULL OR t.id = $4::int8)
    AND ($5::timestamptz IS NULL OR :page_since >= $5::timestamptz)
    AND ($6::timestamptz IS NULL OR t.plan < $6::timestamptz)
    AND ($10::text IS NULL OR coalesce(t.sqlstate::text, 'none') = $10::text)
    AND CASE
        WHEN $11::text IS NULL THEN true
        WHEN t.error IS NULL THEN false
        ELSE (SELECT :page_error = $11::text FROM (SELECT :page_line FROM (SELECT t.error) AS n (error)) AS x (error))
    END
    AND CASE
        WHEN $7::text IS NULL THEN true
        WHEN NOT $8::bool AND strpos(lower(t.input), lower($7::text)) > 0 THEN true
        WHEN NOT $9::bool AND strpos(lower(t.data), lower($7::text)) > 0 THEN true
        WHEN t.error IS NULL THEN false
        ELSE (SELECT strpos(lower(:page_error), lower($7::text)) > 0 FROM (SELECT t.error) AS x (error))
    END
