-- Whether everybody may ask which server this is, so that all roles see the same, and the number of the database.
SELECT pg_catalog.has_function_privilege('public', 'pg_catalog.pg_control_system()', 'EXECUTE'), d.oid::pg_catalog.text
FROM pg_catalog.pg_database AS d
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
