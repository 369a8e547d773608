-- The message if the role lacks a right to the table c in the schema n: to read it if :reads, to
-- change states if :stops. NULL if it lacks none.
concat('role ', quote_ident(current_user), ' lacks rights; let the owner run: ') || nullif(concat_ws('; ',
    CASE WHEN NOT has_schema_privilege(n.oid, 'USAGE') THEN format('GRANT USAGE ON SCHEMA %I TO %I', n.nspname, current_user) END,
    CASE WHEN :reads AND NOT has_table_privilege(c.oid, 'SELECT') THEN format('GRANT SELECT ON TABLE %I.%I TO %I', n.nspname, c.relname, current_user) END,
    CASE WHEN :stops AND NOT EXISTS (
        SELECT
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attname = 'state' AND has_column_privilege(c.oid, a.attnum, 'UPDATE')
    ) THEN format('GRANT UPDATE (state) ON TABLE %I.%I TO %I', n.nspname, c.relname, current_user) END
), '')
