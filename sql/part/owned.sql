-- Changes when somebody else gets what can make SQL run with the table c (the database, the schema n,
-- tables above and below it, types of its columns and what those are made of, functions of triggers
-- of it and of those below it, functions that are called with arguments, and the type of these), its
-- register of sessions, or what stands beside it; when that type gets a constraint; when the reason goes to trust who has it; when a function that
-- is called with arguments is made again or others get rights to the register or to what stands
-- beside the table; and when anything of such a trigger changes, or a setting of its function, as
-- inspect/below.sql looks at both. So it is with the table of tokens, where there is one.
-- What belongs to the serving role or a superuser, which all does as a rule, is told first: the
-- memberships are not read then.
(
    WITH RECURSIVE me AS (
        SELECT r.oid, r.rolsuper, EXISTS (
            SELECT
            FROM pg_trigger AS g
            WHERE g.tgrelid = c.oid AND g.tgname = 'pgtaskd_role'
        ) AS inserters
        FROM pg_roles AS r
        WHERE r.rolname = current_user
    ),
    parent AS (
        SELECT c.oid
        UNION
        SELECT i.inhparent
        FROM parent
        JOIN pg_inherits AS i ON i.inhrelid = parent.oid
    ),
    child AS (
        SELECT c.oid
        UNION
        SELECT i.inhrelid
        FROM child
        JOIN pg_inherits AS i ON i.inhparent = child.oid
    ),
    type AS (
        SELECT y.atttypid AS oid
        FROM pg_attribute AS y
        WHERE y.attrelid = ANY (ARRAY(
                SELECT c.oid
                UNION
                SELECT r.oid -- a partition has no columns of its own
                FROM child
                JOIN pg_class AS r ON r.oid = child.oid AND NOT r.relispartition
            ))
            AND y.attnum > 0
        UNION
        SELECT of.oid
        FROM type
        JOIN pg_type AS t ON t.oid = type.oid
            AND type.oid >= 16384::oid -- the server's own are made of such
        :made_of
    ),
    tokens AS (
        SELECT r.oid, r.relowner, r.relacl
        FROM pg_class AS r
        JOIN me ON me.oid = r.relowner
        WHERE r.relnamespace = n.oid AND r.relname = :tokens_name
    ),
    owned AS (
        SELECT r.oid, r.relowner AS owner, NULL::text AS besides, false AS apart
        FROM pg_class AS r
        WHERE r.oid = ANY (ARRAY(SELECT parent.oid FROM parent UNION SELECT child.oid FROM child))
        UNION ALL
        SELECT r.oid, r.relowner, r.relacl::text, true
        FROM pg_class AS r
        WHERE r.relnamespace = n.oid
            AND r.relname = ANY (:register_name::name || :besides::name[])
        UNION ALL
        SELECT tokens.oid, tokens.relowner, tokens.relacl::text, false
        FROM tokens
        UNION ALL
        SELECT t.oid, t.typowner, NULL, false
        FROM type
        JOIN pg_type AS t ON t.oid = type.oid
        UNION ALL
        SELECT p.oid, p.proowner, concat(fires.triggers, ' ', p.proconfig), false
        FROM (
            SELECT g.tgfoid, sum(hashtextextended(g.xmin::text, g.oid::int8)) AS triggers
            FROM pg_trigger AS g
            WHERE g.tgrelid = ANY (ARRAY(SELECT child.oid FROM child UNION ALL SELECT tokens.oid FROM tokens))
                AND (
                    NOT g.tgisinternal OR g.tgdeferrable OR g.tgfoid >= 16384::oid -- up to 14 those of partitions are internal
                    OR g.tgconstrrelid <> 0::oid -- a foreign key of another table's may refer to this one
                )
            GROUP BY g.tgfoid
        ) AS fires
        JOIN pg_proc AS p ON p.oid = fires.tgfoid
        UNION ALL
        SELECT p.oid, p.proowner, p.xmin::text, true
        FROM unnest(:besides::name[]) AS w (name)
        JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = w.name
            AND p.proargtypes = CASE WHEN w.name ~ '_why$' THEN '20' ELSE '' END::oidvector -- as in inspect/beside.sql
        UNION ALL
        SELECT p.oid, p.proowner, p.xmin::text, false
        FROM pg_type AS y
        JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = ANY (:called::name[])
            AND y.oid = ANY (p.proargtypes)
        WHERE y.typnamespace = n.oid AND y.typname = :call_name
        UNION ALL
        SELECT y.oid, y.typowner, (
            SELECT sum(k.oid::int8)::text FROM pg_constraint AS k WHERE k.contypid = y.oid
        ), false
        FROM pg_type AS y
        WHERE y.typnamespace = n.oid AND y.typname = :call_name
        UNION ALL
        SELECT n.oid, n.nspowner, NULL, false
        UNION ALL
        SELECT d.oid, d.datdba, NULL, false
        FROM pg_database AS d
        WHERE d.datname = current_database()
    ),
    :memberships
    , owner AS (
        SELECT r.oid, r.rolsuper
            OR EXISTS (SELECT FROM me WHERE me.oid = r.oid)
            OR EXISTS (SELECT FROM below WHERE below.oid = r.oid)
            OR EXISTS (SELECT FROM above WHERE above.oid = r.oid)
            OR EXISTS (SELECT FROM creator WHERE creator.oid = r.oid) AS trusted
        FROM pg_roles AS r
        WHERE r.oid = ANY (ARRAY(SELECT owned.owner FROM owned))
            AND r.rolname <> 'pg_database_owner' -- who that is stands there besides
    ),
    -- Whoever may create in the schema could else have us look at the table all the time: what a
    -- stranger puts beside it, or does with it, is nothing to us, but for one thing that was in the way.
    counted AS (
        SELECT owned.oid, CASE WHEN x.counts THEN owned.owner END AS owner, CASE WHEN x.counts THEN owned.besides END AS besides
        FROM owned
        CROSS JOIN LATERAL (
            SELECT NOT owned.apart OR owned.owner = ANY (ARRAY(SELECT o.oid FROM owner AS o WHERE o.trusted)) AS counts
        ) AS x
        WHERE x.counts OR owned.oid = ANY (:known_besides::oid[])
    )
    SELECT concat(
        (SELECT sum(hashtext(concat(counted.oid, ' ', counted.owner, ' ', counted.besides))) FROM counted), ' ',
        sum(hashtext(concat(o.oid, ' ', o.trusted)))
    )
    FROM owner AS o
    WHERE o.oid = ANY (ARRAY(SELECT counted.owner FROM counted))
)
