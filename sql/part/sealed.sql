-- Whether the comment of what has the number, in that catalog, says so: no dump has brought it, and
-- its rights are as it was made with, or were given since. Large objects have numbers that anybody
-- chooses, and comments, too.
EXISTS (
    SELECT
    FROM pg_catalog.pg_description AS d
    WHERE d.objoid OPERATOR(pg_catalog.=) number
        AND d.classoid OPERATOR(pg_catalog.=) :catalog::pg_catalog.regclass::pg_catalog.oid
        AND d.objsubid OPERATOR(pg_catalog.=) 0
        AND d.description OPERATOR(pg_catalog.~) pg_catalog.concat(here, number, '$')
)
