($1::pg_catalog.text[] IS NULL OR pg_catalog.textin(pg_catalog.enum_out(t.state)) OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]))
    AND (
        $2::pg_catalog.text IS NULL
        OR CASE WHEN pg_catalog."right"($2::pg_catalog.text, 1) OPERATOR(pg_catalog.=) '%'
            THEN pg_catalog.starts_with(t."group", pg_catalog."left"($2::pg_catalog.text, -1))
            ELSE t."group" OPERATOR(pg_catalog.=) $2::pg_catalog.text
        END
    )
    AND ($3::pg_catalog.text IS NULL OR t.key OPERATOR(pg_catalog.=) $3::pg_catalog.text)
    AND ($4::pg_catalog.timestamptz IS NULL OR greatest(t.created, t.start, t.stop) OPERATOR(pg_catalog.>=) $4::pg_catalog.timestamptz)
