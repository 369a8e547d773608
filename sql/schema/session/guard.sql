-- Nothing is made with what belongs to somebody whom the role that runs this has no reason to
-- trust; nor, where ALTER DATABASE or ALTER ROLE has made the session another role's, with what the
-- one that has logged in has no reason to trust: what is called can take that role again; nor
-- of a table of which a part is foreign, or whose tasks run under the roles that insert them where
-- all are to run under one.
SET LOCAL pgtaskd.guard = $guard$DO $block$
DECLARE
    trusted pg_catalog.int8[];
    role pg_catalog.name := current_user;
    kind pg_catalog.text;
    name pg_catalog.text;
    owner pg_catalog.text;
    is_foreign pg_catalog.bool;
    inserters pg_catalog.bool;
    unguarded pg_catalog.bool;
    claimed pg_catalog.bool;
    lost pg_catalog.bool;
    late pg_catalog.text;
    indexed pg_catalog.text;
BEGIN
    IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed' THEN -- and shows what was there at its start
        RAISE EXCEPTION 'the transaction is not READ COMMITTED' USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Run this outside a transaction, or in one of that level: else it does not see what others have made meanwhile.';
    END IF;
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_db_role_setting AS s
        CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c (setting)
        WHERE c.setting OPERATOR(pg_catalog.~~*) 'role=%'
            AND s.setdatabase OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())])
            AND s.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) session_user)])
    ) THEN
        role := session_user;
    END IF;
    EXECUTE $query$:trusted$query$ INTO trusted USING role, false, :wary, :its_name;
    PERFORM pg_catalog.set_config('pgtaskd.trusted', trusted::pg_catalog.text, true); -- for what is made later
    FOR kind, name, owner IN EXECUTE $query$:owners$query$
        USING :names, trusted, :indexes LOOP
        RAISE EXCEPTION '% % belongs to role %, whom role % has no reason to trust', pg_catalog.lower(kind), name, owner, pg_catalog.quote_ident(role)
            USING ERRCODE = 'insufficient_privilege', HINT =
                'Drop it, or see what it does and give it to a role that is trusted (ALTER … OWNER TO), or run this as its owner, or as a member of that role.';
    END LOOP;
    FOR name, is_foreign, inserters, unguarded, claimed, lost, late, indexed IN EXECUTE $query$:below$query$ USING :its_name LOOP
        IF is_foreign THEN
            RAISE EXCEPTION 'foreign table % is a partition or child of the table', name
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Detach it, or drop it.';
        ELSIF inserters AND :as_target THEN
            RAISE EXCEPTION 'table % runs each task under the role that inserted it', name
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = pg_catalog.format(
                    'Write "as": "inserter" into the target, and print this by pgtaskd schema --config FILE; or, to have all tasks run under the serving role, those that wait there too: DROP TRIGGER pgtaskd_role ON %s, and rename column role', name);
        ELSIF unguarded AND NOT :as_target THEN
            RAISE EXCEPTION 'table % is below the table, and its own trigger pgtaskd_role is missing or not enabled always, so that whoever inserts into it could choose role', name
                USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = pg_catalog.format('ALTER TABLE %1$s ENABLE ALWAYS TRIGGER pgtaskd_role, where it is missing make it first, as the table has it; or take %1$s from under the table.', name);
        ELSIF lost AND NOT :as_target THEN
            RAISE EXCEPTION 'table % has a column role and no trigger that guards it, enabled always, so that others may have chosen under whom a task runs, or changed what it does', name
                USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = pg_catalog.format('Look at all tasks that wait, and then COMMENT ON COLUMN %s.role IS ''believed'', which has the trigger made again.', name);
        ELSIF claimed AND NOT :as_target THEN
            RAISE EXCEPTION 'table % has a column role and no trigger that guards it, so that others may have chosen under whom a task runs', name
                USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = pg_catalog.format('Rename the column; or, if its values are to count, COMMENT ON COLUMN %s.role IS ''believed'', which holds until the trigger is there.', name);
        ELSIF late OPERATOR(pg_catalog.<>) '' AND NOT :as_target THEN
            RAISE EXCEPTION 'trigger % of table % may be deferred to the COMMIT, where it runs as the serving role with the search_path of the task''s role', late, name
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'ALTER FUNCTION … SET search_path = …, pg_temp for its function, or make it NOT DEFERRABLE.';
        ELSIF indexed OPERATOR(pg_catalog.<>) '' AND NOT :as_target THEN
            RAISE EXCEPTION 'constraint % of table % may be deferred to the COMMIT, where its functions run as the serving role with the search_path of the task''s role', indexed, name
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Drop it, or make it again NOT DEFERRABLE.';
        END IF;
    END LOOP;
END
$block$$guard$;
