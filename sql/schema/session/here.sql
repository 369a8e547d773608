-- What stands for :here in a block: how the comments end of what was made in this database of this
-- server, but for the number. Numbers alone may come again where a dump is restored: anybody can
-- move the counter that they come from.
    IF pg_catalog.has_function_privilege('public', 'pg_catalog.pg_control_system()', 'EXECUTE') THEN
        EXECUTE 'SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s' INTO here;
    END IF;
    SELECT pg_catalog.concat(' #', here, '-', d.oid, '-') INTO here
    FROM pg_catalog.pg_database AS d
    WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
