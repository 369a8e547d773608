-- Nothing is made with what belongs to somebody whom the role that runs this has no reason to
-- trust.
SET LOCAL pgtaskd.guard = $guard$DO $block$
DECLARE
    trusted pg_catalog.int8[];
    kind pg_catalog.text;
    name pg_catalog.text;
    owner pg_catalog.text;
BEGIN
    EXECUTE $query$:trusted$query$ INTO trusted USING current_user, false;
    FOR kind, name, owner IN EXECUTE $query$:owners$query$
        USING :names, trusted, :indexes LOOP
        RAISE EXCEPTION '% % belongs to role %, whom role % has no reason to trust', pg_catalog.lower(kind), name, owner, pg_catalog.quote_ident(current_user)
            USING ERRCODE = 'insufficient_privilege', HINT =
                'Drop it, or see what it does and give it to a role that is trusted (ALTER … OWNER TO), or run this as its owner, or as a member of that role.';
    END LOOP;
END
$block$$guard$;
