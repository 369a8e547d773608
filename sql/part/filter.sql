($1::text[] IS NULL OR textin(enum_out(t.state)) = ANY ($1::text[]))
    AND (
        $2::text IS NULL
        OR CASE WHEN "right"($2::text, 1) = '%'
            THEN starts_with(t."group", "left"($2::text, -1))
            ELSE t."group" = $2::text
        END
    )
    AND ($3::text IS NULL OR t.key = $3::text)
    AND ($4::timestamptz IS NULL OR greatest(t.created, t.start, t.stop) >= $4::timestamptz)
