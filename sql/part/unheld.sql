-- Takes the lightest lock on what names are looked up in, and what queries are planned by, to the
-- end of the transaction. Anybody can lock a catalog against readers for as long as they like,
-- without a right to it. So we wait for them here, before the look that follows, and not between
-- that look and what is done by a name, which would be looked up again then.
PERFORM FROM (
    SELECT FROM pg_catalog.pg_class WHERE false UNION ALL SELECT FROM pg_catalog.pg_attribute WHERE false UNION ALL SELECT FROM pg_catalog.pg_attrdef WHERE false UNION ALL SELECT FROM pg_catalog.pg_type WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_proc WHERE false UNION ALL SELECT FROM pg_catalog.pg_namespace WHERE false UNION ALL SELECT FROM pg_catalog.pg_operator WHERE false UNION ALL SELECT FROM pg_catalog.pg_cast WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_inherits WHERE false UNION ALL SELECT FROM pg_catalog.pg_trigger WHERE false UNION ALL SELECT FROM pg_catalog.pg_rewrite WHERE false UNION ALL SELECT FROM pg_catalog.pg_index WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_constraint WHERE false UNION ALL SELECT FROM pg_catalog.pg_aggregate WHERE false UNION ALL SELECT FROM pg_catalog.pg_amop WHERE false UNION ALL SELECT FROM pg_catalog.pg_amproc WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_opclass WHERE false UNION ALL SELECT FROM pg_catalog.pg_opfamily WHERE false UNION ALL SELECT FROM pg_catalog.pg_collation WHERE false UNION ALL SELECT FROM pg_catalog.pg_language WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_enum WHERE false UNION ALL SELECT FROM pg_catalog.pg_range WHERE false UNION ALL SELECT FROM pg_catalog.pg_am WHERE false UNION ALL SELECT FROM pg_catalog.pg_policy WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_partitioned_table WHERE false UNION ALL SELECT FROM pg_catalog.pg_statistic_ext WHERE false UNION ALL SELECT FROM pg_catalog.pg_stats WHERE false UNION ALL SELECT FROM pg_catalog.pg_roles WHERE false
    UNION ALL SELECT FROM pg_catalog.pg_auth_members WHERE false UNION ALL SELECT FROM pg_catalog.pg_database WHERE false UNION ALL SELECT FROM pg_catalog.pg_tablespace WHERE false UNION ALL SELECT FROM pg_catalog.pg_description WHERE false
) AS catalogs;
