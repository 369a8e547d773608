-- Is an error if the table's name has come to be another relation's since it was looked at.
SELECT CASE
    WHEN coalesce(to_regclass(:table_text)::oid::int8 = :table_number, false) THEN NULL::text
    ELSE '"the table as it was"' -- there is no such name
END::regclass
