-- What stands for :make_way in a block: each of the functions goes, so that it is made anew, whoever's
-- it was. Where something of anybody's depends on it, such as a view or a trigger of theirs, it stays,
-- and is replaced, so that this keeps nothing else of the step from being done.
    FOREACH called IN ARRAY functions LOOP
        CONTINUE WHEN pg_catalog.to_regprocedure(called) IS NULL;
        BEGIN
            EXECUTE pg_catalog.concat('DROP FUNCTION ', called);
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                EXECUTE pg_catalog.concat('ALTER FUNCTION ', called, ' OWNER TO CURRENT_USER');
        END;
    END LOOP;
