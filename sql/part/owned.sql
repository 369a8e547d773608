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
            FROM pg_catalog.pg_trigger AS g
            WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
        ) AS inserters
        FROM pg_catalog.pg_roles AS r
        WHERE r.rolname OPERATOR(pg_catalog.=) current_user
    ),
    parent AS (
        SELECT c.oid
        UNION
        SELECT i.inhparent
        FROM parent
        JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) parent.oid
    ),
    child AS (
        SELECT c.oid
        UNION
        SELECT i.inhrelid
        FROM child
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) child.oid
    ),
    type AS (
        SELECT y.atttypid AS oid
        FROM pg_catalog.pg_attribute AS y
        WHERE y.attrelid OPERATOR(pg_catalog.=) ANY (ARRAY(
                SELECT c.oid
                UNION
                SELECT r.oid -- a partition has no columns of its own
                FROM child
                JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) child.oid AND NOT r.relispartition
            ))
            AND y.attnum OPERATOR(pg_catalog.>) 0
        UNION
        SELECT of.oid
        FROM type
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
            AND type.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid -- the server's own are made of such
        :made_of
    ),
    tokens AS (
        SELECT r.oid, r.relowner, r.relacl
        FROM pg_catalog.pg_class AS r
        JOIN me ON me.oid OPERATOR(pg_catalog.=) r.relowner
        WHERE r.relnamespace OPERATOR(pg_catalog.=) n.oid AND r.relname OPERATOR(pg_catalog.=) :tokens_name
    ),
    owned AS (
        SELECT r.oid, r.relowner AS owner, NULL::pg_catalog.text AS besides, false AS apart
        FROM pg_catalog.pg_class AS r
        WHERE r.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT parent.oid FROM parent UNION SELECT child.oid FROM child))
        UNION ALL
        SELECT r.oid, r.relowner, r.relacl::pg_catalog.text, true
        FROM pg_catalog.pg_class AS r
        WHERE r.relnamespace OPERATOR(pg_catalog.=) n.oid
            AND r.relname OPERATOR(pg_catalog.=) ANY (:register_name::pg_catalog.name OPERATOR(pg_catalog.||) :besides::pg_catalog.name[])
        UNION ALL
        SELECT tokens.oid, tokens.relowner, tokens.relacl::pg_catalog.text, false
        FROM tokens
        UNION ALL
        SELECT t.oid, t.typowner, NULL, false
        FROM type
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
        UNION ALL
        SELECT p.oid, p.proowner, pg_catalog.concat(fires.triggers, ' ', p.proconfig), false
        FROM (
            SELECT g.tgfoid, pg_catalog.sum(pg_catalog.hashtextextended(g.xmin::pg_catalog.text, g.oid::pg_catalog.int8)) AS triggers
            FROM pg_catalog.pg_trigger AS g
            WHERE g.tgrelid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT child.oid FROM child UNION ALL SELECT tokens.oid FROM tokens))
                AND (
                    NOT g.tgisinternal OR g.tgdeferrable OR g.tgfoid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid -- up to 14 those of partitions are internal
                    OR g.tgconstrrelid OPERATOR(pg_catalog.<>) 0::pg_catalog.oid -- a foreign key of another table's may refer to this one
                )
            GROUP BY g.tgfoid
        ) AS fires
        JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) fires.tgfoid
        UNION ALL
        SELECT p.oid, p.proowner, p.xmin::pg_catalog.text, true
        FROM pg_catalog.unnest(:besides::pg_catalog.name[]) AS w (name)
        JOIN pg_catalog.pg_proc AS p ON p.pronamespace OPERATOR(pg_catalog.=) n.oid AND p.proname OPERATOR(pg_catalog.=) w.name
            AND p.proargtypes OPERATOR(pg_catalog.=) CASE WHEN w.name OPERATOR(pg_catalog.~) '_why$' THEN '20' ELSE '' END::pg_catalog.oidvector -- as in inspect/beside.sql
        UNION ALL
        SELECT p.oid, p.proowner, p.xmin::pg_catalog.text, false
        FROM pg_catalog.pg_type AS y
        JOIN pg_catalog.pg_proc AS p ON p.pronamespace OPERATOR(pg_catalog.=) n.oid AND p.proname OPERATOR(pg_catalog.=) ANY (:called::pg_catalog.name[])
            AND y.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
        WHERE y.typnamespace OPERATOR(pg_catalog.=) n.oid AND y.typname OPERATOR(pg_catalog.=) :call_name
        UNION ALL
        SELECT y.oid, y.typowner, (
            SELECT pg_catalog.sum(k.oid::pg_catalog.int8)::pg_catalog.text FROM pg_catalog.pg_constraint AS k WHERE k.contypid OPERATOR(pg_catalog.=) y.oid
        ), false
        FROM pg_catalog.pg_type AS y
        WHERE y.typnamespace OPERATOR(pg_catalog.=) n.oid AND y.typname OPERATOR(pg_catalog.=) :call_name
        UNION ALL
        SELECT n.oid, n.nspowner, NULL, false
        UNION ALL
        SELECT d.oid, d.datdba, NULL, false
        FROM pg_catalog.pg_database AS d
        WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    ),
    :memberships
    , owner AS (
        SELECT r.oid, r.rolsuper
            OR EXISTS (SELECT FROM me WHERE me.oid OPERATOR(pg_catalog.=) r.oid)
            OR EXISTS (SELECT FROM below WHERE below.oid OPERATOR(pg_catalog.=) r.oid)
            OR EXISTS (SELECT FROM above WHERE above.oid OPERATOR(pg_catalog.=) r.oid)
            OR EXISTS (SELECT FROM creator WHERE creator.oid OPERATOR(pg_catalog.=) r.oid) AS trusted
        FROM pg_catalog.pg_roles AS r
        WHERE r.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT owned.owner FROM owned))
            AND r.rolname OPERATOR(pg_catalog.<>) 'pg_database_owner' -- who that is stands there besides
    ),
    -- Whoever may create in the schema could else have us look at the table all the time: what a
    -- stranger puts beside it, or does with it, is nothing to us, but for one thing that was in the way.
    counted AS (
        SELECT owned.oid, CASE WHEN x.counts THEN owned.owner END AS owner, CASE WHEN x.counts THEN owned.besides END AS besides
        FROM owned
        CROSS JOIN LATERAL (
            SELECT NOT owned.apart OR owned.owner OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT o.oid FROM owner AS o WHERE o.trusted)) AS counts
        ) AS x
        WHERE x.counts OR owned.oid OPERATOR(pg_catalog.=) ANY (:known_besides::pg_catalog.oid[])
    )
    SELECT pg_catalog.concat(
        (SELECT pg_catalog.sum(pg_catalog.hashtext(pg_catalog.concat(counted.oid, ' ', counted.owner, ' ', counted.besides))) FROM counted), ' ',
        pg_catalog.sum(pg_catalog.hashtext(pg_catalog.concat(o.oid, ' ', o.trusted)))
    )
    FROM owner AS o
    WHERE o.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT counted.owner FROM counted))
)
