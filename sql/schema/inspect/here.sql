-- Whether everybody may ask which server this is, so that all roles see the same.
SELECT pg_catalog.has_function_privilege('public', 'pg_catalog.pg_control_system()', 'EXECUTE');
