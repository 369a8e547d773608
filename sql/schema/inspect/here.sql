-- Whether everybody may ask which server this is, so that all roles see the same.
SELECT has_function_privilege('public', 'pg_control_system()', 'EXECUTE');
