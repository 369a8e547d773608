-- Sets task to the number of the table, and wrong where what a function of ours names is not what it
-- was made for, or somebody could have something else meant before the end of the transaction: after
-- a RENAME or a DROP each name is free for others, and the owner of the schema can have that done at
-- any time. The table stays what it is, because it is locked as the INSERT does it; and so do the
-- owners of its partitions, because their list locks each against changes, and waits for it: one may
-- come while another is waited for, so we list them until none has come. That costs time for each
-- row, and places among the server's locks: where they are many, they are only looked at. A
-- transaction may see the owners of long ago: then it is one to begin again. It sees no partition
-- that is younger, nor that the schema has another owner, who may drop the functions that are called.
    dated := pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) ANY ('{repeatable read,serializable}');
    IF pg_catalog.to_regclass(:table_text) IS NOT NULL THEN
        LOCK TABLE ONLY :table IN ROW EXCLUSIVE MODE;
    END IF;
    parts := ARRAY(
        WITH RECURSIVE below AS (
            SELECT i.inhrelid AS oid
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) c.oid
            WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid AND c.relkind OPERATOR(pg_catalog.=) 'p'
            UNION ALL
            SELECT i.inhrelid
            FROM below
            JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
        )
        SELECT below.oid
        FROM below
    );
    IF pg_catalog.cardinality(parts) OPERATOR(pg_catalog.>) 0 THEN -- the INSERT would wait for its id before it looks for the row's partition
        PERFORM pg_catalog.pg_sequence_last_value(s.sequence) -- locks it, until the end
        FROM (SELECT pg_catalog.pg_get_serial_sequence(:table_text, 'id')::pg_catalog.regclass AS sequence) AS s
        WHERE pg_catalog.has_sequence_privilege(s.sequence::pg_catalog.oid, 'USAGE, SELECT');
    END IF;
    listed := parts;
    IF dated OR pg_catalog.cardinality(parts) OPERATOR(pg_catalog.<=) 32 THEN
        FOR times IN 1 .. 50 LOOP
            listed := parts;
            parts := ARRAY(SELECT t.relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass(:table_text)) AS t);
            EXIT WHEN parts OPERATOR(pg_catalog.=) listed;
        END LOOP;
    END IF;
    SELECT CASE
        WHEN pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.<>) current_user
            THEN pg_catalog.concat('function ', :its_async_text, '() belongs to role ', pg_catalog.quote_ident(current_user), ', and table ', :table_text,
                ' to role ', pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(c.relowner)),
                ': ALTER FUNCTION ', :its_async_text, '() OWNER TO ', pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(c.relowner)))
    END,
        CASE WHEN NOT s.rolsuper AND NOT pg_catalog.pg_has_role(s.oid, c.relowner, :usable) THEN s.oid END,
        ARRAY( -- the triggers of a row's part are run as well
            SELECT DISTINCT p.relowner
            FROM pg_catalog.pg_class AS p
            WHERE p.oid OPERATOR(pg_catalog.=) ANY (parts) AND NOT pg_catalog.pg_has_role(p.relowner, c.relowner, :usable)
        ),
        :changed_c OR :changed_y OR parts OPERATOR(pg_catalog.<>) listed OR EXISTS (
            SELECT
            FROM pg_catalog.unnest(parts) AS t (oid)
            LEFT JOIN pg_catalog.pg_class AS p ON p.oid OPERATOR(pg_catalog.=) t.oid
            WHERE p.oid IS NULL AND dated OR :changed_p
        ), c.oid
    INTO wrong, keeper, sharers, changed, task
    FROM pg_catalog.pg_namespace AS n
    JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid
    LEFT JOIN pg_catalog.pg_trigger AS k ON k.tgrelid OPERATOR(pg_catalog.=) c.oid AND k.tgname OPERATOR(pg_catalog.=) 'pgtaskd_accept'
    LEFT JOIN pg_catalog.pg_proc AS a ON a.oid OPERATOR(pg_catalog.=) k.tgfoid
    JOIN pg_catalog.pg_type AS y ON y.typnamespace OPERATOR(pg_catalog.=) n.oid AND y.typname OPERATOR(pg_catalog.=) 'pgtaskd_call_:hash'
        AND y.oid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(pg_catalog.format('%I.%I', :schema_text, y.typname))::pg_catalog.oid
        AND pg_catalog.pg_has_role(y.typowner, coalesce(a.proowner, c.relowner), :usable)
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS x WHERE x.contypid OPERATOR(pg_catalog.=) y.oid) -- which a cast would check
    JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    JOIN pg_catalog.pg_roles AS s ON s.oid OPERATOR(pg_catalog.=)
        CASE WHEN pg_catalog.pg_get_userbyid(n.nspowner) OPERATOR(pg_catalog.=) 'pg_database_owner' THEN d.datdba ELSE n.nspowner END
    WHERE n.nspname OPERATOR(pg_catalog.=) :schema_text;
    IF NOT changed THEN
        SELECT pg_catalog.count(*) OPERATOR(pg_catalog.=) 6 INTO whole
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_type AS y ON y.typnamespace OPERATOR(pg_catalog.=) c.relnamespace AND y.typname OPERATOR(pg_catalog.=) 'pgtaskd_call_:hash'
        JOIN pg_catalog.pg_proc AS f ON f.pronamespace OPERATOR(pg_catalog.=) c.relnamespace AND y.oid OPERATOR(pg_catalog.=) ANY (f.proargtypes)
            AND f.proname OPERATOR(pg_catalog.=) ANY ('{pgtaskd_async_columns_:hash,pgtaskd_async_unset_:hash,pgtaskd_async_default_:hash,
                pgtaskd_async_usual_:hash,pgtaskd_async_shown_:hash,pgtaskd_async_insert_:hash}'::pg_catalog.name[])
        WHERE c.oid OPERATOR(pg_catalog.=) task
            AND (NOT dated OR f.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure(pg_catalog.format('%I.%I(%s)', :schema_text, f.proname,
                pg_catalog.array_to_string(f.proargtypes::pg_catalog.oid[]::pg_catalog.regtype[], ', ')))::pg_catalog.oid)
            AND pg_catalog.pg_has_role(f.proowner, c.relowner, :usable) AND NOT :changed_f;
    END IF;
    IF changed OR dated AND NOT whole THEN
        RAISE EXCEPTION 'table % has been changed since this transaction began', :table_text USING ERRCODE = 'serialization_failure',
            HINT = 'Begin another transaction.';
    ELSIF changed IS NULL THEN
        wrong := pg_catalog.concat('table ', :table_text, ' is not the one that the function was made for: it was dropped, or its schema or itself was renamed; ',
            'pgtaskd makes the function anew where it serves a table');
    ELSIF wrong IS NULL AND (keeper IS NOT NULL OR pg_catalog.cardinality(sharers) OPERATOR(pg_catalog.>) 0) THEN
        WITH RECURSIVE me AS (
            SELECT r.oid, r.rolsuper, EXISTS (
                SELECT
                FROM pg_catalog.pg_trigger AS g
                WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
            ) AS inserters
            FROM pg_catalog.pg_roles AS r
            WHERE r.rolname OPERATOR(pg_catalog.=) current_user
        ),
        :memberships
        SELECT pg_catalog.concat(CASE WHEN r.oid OPERATOR(pg_catalog.=) keeper THEN 'the schema' ELSE 'a partition' END, ' of table ', :table_text,
            ' belongs to role ', pg_catalog.quote_ident(r.rolname), ', whom the owner of the table has no reason to trust') INTO wrong
        FROM pg_catalog.pg_roles AS r
        WHERE r.oid OPERATOR(pg_catalog.=) ANY (pg_catalog.array_append(sharers, keeper))
            AND NOT EXISTS (SELECT FROM above WHERE above.oid OPERATOR(pg_catalog.=) r.oid)
            AND NOT EXISTS (SELECT FROM creator WHERE creator.oid OPERATOR(pg_catalog.=) r.oid)
        LIMIT 1;
    END IF;
    IF wrong IS NULL AND NOT whole THEN
        wrong := pg_catalog.concat('a function of table ', :table_text, ' that it calls was dropped; pgtaskd makes it anew where it serves the table, and may');
    END IF;
