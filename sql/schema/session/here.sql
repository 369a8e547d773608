-- What stands for :here in a block: how the comments end of what was made on this server, but for the
-- number. Numbers alone may come again where a dump is restored: anybody can move the counter that
-- they come from, though not back but in most of a day, once round. A copy of the server's files has
-- its identifier, too.
    IF pg_catalog.has_function_privilege('public', 'pg_catalog.pg_control_system()', 'EXECUTE') THEN
        EXECUTE 'SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s' INTO here;
    END IF;
    here := pg_catalog.concat(' #', here, '-');
