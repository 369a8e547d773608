-- Is an error if the table's name has come to be another relation's since it was looked at.
SELECT CASE
    WHEN coalesce(pg_catalog.to_regclass(:table_text)::pg_catalog.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) :table_number, false) THEN NULL::pg_catalog.text
    ELSE 'pg_catalog."the table as it was"' -- there is no such name
END::pg_catalog.regclass
