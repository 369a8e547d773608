-- A number that changes in these cases: the table c, a table above or below it, an object beside it
-- or the schema n is replaced or gets another owner; rights to an object beside it or to the schema
-- change; a trigger of it, or of a table below it, changes.
(
    WITH RECURSIVE child AS (
        SELECT c.oid
        UNION
        SELECT i.inhrelid
        FROM child
        JOIN pg_inherits AS i ON i.inhparent = child.oid
    ),
    owned AS (
        SELECT r.oid, r.relowner::text AS besides
        FROM pg_class AS r
        WHERE r.oid = ANY (ARRAY(SELECT child.oid FROM child))
        UNION ALL
        SELECT i.inhparent, 'above'
        FROM pg_inherits AS i
        WHERE i.inhrelid = c.oid
        UNION ALL
        SELECT r.oid, concat(r.relowner, ' ', r.relacl)
        FROM pg_class AS r
        WHERE r.relnamespace = n.oid AND r.relname = ANY (:besides::name[])
        UNION ALL
        SELECT p.oid, p.xmin::text
        FROM pg_proc AS p
        WHERE p.pronamespace = n.oid AND p.proname = ANY (:besides::name[])
        UNION ALL
        SELECT g.oid, g.xmin::text
        FROM pg_trigger AS g
        WHERE g.tgrelid = ANY (ARRAY(SELECT child.oid FROM child))
        UNION ALL
        SELECT n.oid, concat(n.nspowner, ' ', n.nspacl)
    )
    SELECT sum(hashtext(concat(owned.oid, ' ', owned.besides)))
    FROM owned
)
