-- Takes the lightest lock on what names are looked up in to the end of the transaction. Anybody can
-- lock a catalog against readers for as long as they like, without a right to it. So we wait for them
-- here, before the look that follows, and not between that look and what is done by a name, which
-- would be looked up again then. These are the catalogs that are read most: each costs every
-- transaction a place among the server's locks.
PERFORM FROM (
    SELECT FROM pg_catalog.pg_namespace WHERE false UNION ALL SELECT FROM pg_catalog.pg_class WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_attribute WHERE false UNION ALL SELECT FROM pg_catalog.pg_attrdef WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_type WHERE false UNION ALL SELECT FROM pg_catalog.pg_proc WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_operator WHERE false UNION ALL SELECT FROM pg_catalog.pg_cast WHERE false
) AS catalogs;
IF pg_catalog.has_table_privilege('pg_catalog.pg_roles', 'SELECT') THEN -- it is taken from PUBLIC on some servers
    PERFORM FROM pg_catalog.pg_roles WHERE false;
END IF;
