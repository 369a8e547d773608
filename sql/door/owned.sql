-- Objects of untrusted roles: among those that pg_depend reaches from the relations, and among
-- those that have one of our names.
-- $1 relations, $2 trusted roles, $3 schema, $4 our names there, $5 their pattern, $6 the serving
-- role
WITH RECURSIVE used (class, oid, way) AS (
    SELECT 'pg_class'::regclass::oid, r.oid::oid, 'acts'
    FROM unnest($1::int8[]) AS r (oid)
    UNION
    -- to look for a key, the server plans a query on that table and evaluates its index predicates
    SELECT 'pg_class'::regclass::oid, k.confrelid, 'checked'
    FROM unnest($1::int8[]) AS r (oid)
    JOIN pg_constraint AS k ON k.conrelid = r.oid::oid AND k.contype = 'f'
    UNION
    SELECT x.class, x.oid, 'used'
    FROM used AS u
    CROSS JOIN LATERAL (
        SELECT d.refclassid AS class, d.refobjid AS oid -- objects that it is made of
        FROM pg_depend AS d
        WHERE d.classid = u.class
            AND d.objid = u.oid
            AND (d.refobjid >= 16384 OR d.refclassid = 'pg_namespace'::regclass)
        UNION ALL
        SELECT d.classid, d.objid -- objects that belong to it
        FROM pg_depend AS d
        WHERE d.refclassid = u.class
            AND d.refobjid = u.oid
            AND u.oid >= 16384
            AND CASE d.classid
                WHEN 'pg_amproc'::regclass THEN u.class IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
                WHEN 'pg_amop'::regclass THEN u.class IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
                WHEN 'pg_cast'::regclass THEN u.class = 'pg_type'::regclass
                WHEN 'pg_class'::regclass THEN EXISTS (
                    SELECT
                    FROM pg_class AS c
                    WHERE c.oid = d.objid
                        AND (c.relkind IN ('i', 'I') AND u.way IN ('acts', 'checked') OR c.relkind = 'S' AND u.way = 'acts' OR c.relkind = 'c' AND u.class = 'pg_type'::regclass)
                )
                WHEN 'pg_constraint'::regclass THEN EXISTS (
                    SELECT
                    FROM pg_constraint AS k
                    WHERE k.oid = d.objid
                        AND (k.conrelid = u.oid AND u.way = 'acts' OR k.contypid = u.oid AND u.class = 'pg_type'::regclass)
                )
                WHEN 'pg_trigger'::regclass THEN u.way = 'acts' AND EXISTS (SELECT FROM pg_trigger AS t WHERE t.oid = d.objid AND t.tgrelid = u.oid)
                WHEN 'pg_rewrite'::regclass THEN u.way = 'acts' AND EXISTS (SELECT FROM pg_rewrite AS r WHERE r.oid = d.objid AND r.ev_class = u.oid)
                WHEN 'pg_policy'::regclass THEN u.way = 'acts' AND EXISTS (SELECT FROM pg_policy AS p WHERE p.oid = d.objid AND p.polrelid = u.oid)
                WHEN 'pg_attrdef'::regclass THEN u.way = 'acts' AND EXISTS (SELECT FROM pg_attrdef AS a WHERE a.oid = d.objid AND a.adrelid = u.oid)
                WHEN 'pg_statistic_ext'::regclass THEN u.way = 'acts'
                WHEN 'pg_publication_rel'::regclass THEN u.way = 'acts'
            END
    ) AS x
),
thing (class, oid) AS (
    SELECT class, oid FROM used
    UNION
    SELECT 'pg_proc'::regclass, p.oid
    FROM pg_proc AS p
    WHERE p.pronamespace = $3::oid AND (p.proname = ANY ($4::text[]) OR p.proname LIKE $5::text)
    UNION
    SELECT 'pg_type'::regclass, t.oid
    FROM pg_type AS t
    WHERE t.typnamespace = $3::oid AND (t.typname = ANY ($4::text[]) OR t.typname LIKE $5::text)
    UNION -- event triggers fire for whatever we make
    SELECT 'pg_event_trigger'::regclass, e.oid FROM pg_event_trigger AS e WHERE e.evtenabled <> 'D'
    UNION
    SELECT 'pg_proc'::regclass, e.evtfoid FROM pg_event_trigger AS e WHERE e.evtenabled <> 'D'
),
owned AS (
    SELECT t.class, t.oid, s.refobjid AS owner
    FROM thing AS t
    JOIN pg_shdepend AS s ON s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND s.classid = t.class
        AND s.objid = t.oid
        AND s.deptype = 'o' -- no row: objects without an owner of their own, and those of the first superuser
    WHERE NOT (t.class = 'pg_namespace'::regclass AND t.oid = $3::oid)
        AND NOT EXISTS ( -- a sequence of a column has its table's owner
            SELECT
            FROM pg_depend AS d
            JOIN pg_class AS c ON c.oid = d.objid AND c.relkind = 'S'
            WHERE t.class = 'pg_class'::regclass
                AND d.classid = t.class
                AND d.objid = t.oid
                AND d.refclassid = t.class
                AND d.deptype IN ('a', 'i')
        )
)
SELECT
    'owns',
    o.class::regclass::text,
    pg_get_userbyid(o.owner)::text,
    i.type || ' ' || i.identity,
    CASE i.type
        WHEN 'extension' THEN '' -- the owner of an extension cannot be changed
        ELSE format('ALTER %s %s OWNER TO %I', upper(replace(regexp_replace(i.type, '^composite | object$', ''), '-', ' ')), i.identity, $6::text)
    END
FROM owned AS o
CROSS JOIN LATERAL pg_identify_object(o.class, o.oid, 0) AS i
WHERE o.owner::int8 <> ALL ($2::int8[])
ORDER BY 3, 4
