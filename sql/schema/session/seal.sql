-- What is appended to what makes an object beside the table to which rights matter: the server and
-- its number go into its comment. A dump brings others, and the rights that default privileges give
-- where it is restored, or that are the rule where the dump has none: then all is made again.
DO $body$
DECLARE
    here pg_catalog.text;
    seal pg_catalog.text;
BEGIN
    :here
    SELECT pg_catalog.format('COMMENT ON %s IS %L', pg_catalog.concat(:what), pg_catalog.concat(d.description, here, d.objoid)) INTO seal
    FROM pg_catalog.pg_description AS d
    WHERE d.objoid OPERATOR(pg_catalog.=) :number::pg_catalog.oid
        AND d.classoid OPERATOR(pg_catalog.=) :catalog::pg_catalog.regclass::pg_catalog.oid
        AND d.objsubid OPERATOR(pg_catalog.=) 0;
    EXECUTE seal;
END
$body$;
