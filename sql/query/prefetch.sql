-- Reads the tasks that were chosen, but for those that have changed since or have become not worth
-- running. Long texts stay behind (NULL here) until the task starts; group and remote come as in
-- scan, and by themselves where those are not the same.
-- $1 ids, NULL: the one that is due alone, unless its lane may have to pause first or it repeats
-- itself; $2 longest text to bring, in bytes, $3 how long before its plan a task may be read, $4
-- whether all texts stay behind, as one of them cannot be sent, $5 when the server has crashed
-- last: what was due by then is marked before it starts;
-- $6 when the last pause of a group has ended, which may count as the plan (NULL: none has), $7
-- version of the limits of groups, $8 what is due alone is so since then: before it the server may
-- have to read past all that has ended, as long as somebody's transaction lasts
SELECT
    t.id,
    CASE WHEN pg_catalog.num_nulls(t.input, t."group", t."null") OPERATOR(pg_catalog.=) 0 THEN t.version END AS "input, group or null", -- a row that lacks one cannot be read
    t.key IS NOT NULL
        OR t.overlap
        OR t.stop IS NOT NULL -- it has ended before, and somebody has set it to PLAN
        OR t.locked
        OR (coalesce(t.base, t.plan) OPERATOR(pg_catalog.<=) $5) IS TRUE,
    CASE WHEN t.expires THEN greatest(:base, t.freed) OPERATOR(pg_catalog.+) least(t.active, '10000 years') END,
    :key_of_group,
    coalesce(:key_of_remote, ''),
    t.max,
    t.priority,
    t.parent,
    t.plan,
    CASE WHEN t.stop IS NULL THEN least(t.attempt, 2147483646) ELSE 0 END OPERATOR(pg_catalog.+) 1,
    CASE WHEN t.timeout OPERATOR(pg_catalog.<>) '0' THEN least(pg_catalog.date_part('epoch', t.timeout) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8 ELSE 0 END,
    CASE WHEN t.live OPERATOR(pg_catalog.<>) '0' THEN least(pg_catalog.date_part('epoch', t.live) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8 ELSE 0 END,
    t.count,
    t.save,
    t.drift,
    t.header,
    t.string,
    t.delimiter,
    t.escape,
    t.quote,
    CASE WHEN pg_catalog.octet_length(t."null") OPERATOR(pg_catalog.<=) 1000 AND NOT $4::pg_catalog.bool THEN t."null" END,
    t.rerun,
    NOT t.followed,
    t.stop IS NULL AND t.interrupted OPERATOR(pg_catalog.>) 1 AND coalesce(
        pg_catalog.jsonb_array_length(pg_catalog.jsonb_path_query_array(t.runs, '$[*] ? (@.cause == "crash")')) OPERATOR(pg_catalog.>) 1,
        false
    ),
    CASE WHEN pg_catalog.octet_length(t.input) OPERATOR(pg_catalog.<=) $2 THEN t.input END,
    CASE WHEN t.data IS NULL THEN '' WHEN pg_catalog.octet_length(t.data) OPERATOR(pg_catalog.<=) $2 THEN t.data END,
    (
        SELECT coalesce(pg_catalog.sum(pg_catalog.hashtext( -- not of what is set: a role may give itself megabytes
            pg_catalog.concat(s.xmin, ' ', s.ctid, ' ', s.setdatabase, ' ', s.setrole)
        )::pg_catalog.int8), 0)::pg_catalog.int8
        FROM pg_catalog.pg_db_role_setting AS s
        WHERE s.setdatabase OPERATOR(pg_catalog.=) ANY (ARRAY[
                0::pg_catalog.oid,
                (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
            ])
            AND s.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[
                0::pg_catalog.oid,
                pg_catalog.quote_ident(current_user)::pg_catalog.regrole::pg_catalog.oid:role_of_settings
            ])
    ),
    EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
    CASE WHEN t.settings IS NOT NULL THEN pg_catalog.convert_to( -- as bytes: there may be characters that cannot be sent
        CASE
            WHEN pg_catalog.pg_column_size(t.settings) OPERATOR(pg_catalog.<=) 65536 AND pg_catalog.octet_length(t.settings::pg_catalog.text) OPERATOR(pg_catalog.<=) 65536
                THEN t.settings::pg_catalog.text
            ELSE '{"settings of over 64 kB": ""}' -- which no trigger has refused, and which the server knows no setting of
        END,
        pg_catalog.getdatabaseencoding()
    ) END,
    :group_itself,
    :remote_itself,
    CASE WHEN t.ready OPERATOR(pg_catalog.>) t.plan AND t.ready OPERATOR(pg_catalog.<) 'infinity' THEN t.ready END,
    CASE WHEN NOT $4 THEN t.key END,
    t.skipped,
    CASE WHEN t.expires AND $6::pg_catalog.timestamptz IS NOT NULL THEN least(pg_catalog.date_part('epoch', t.active) OPERATOR(pg_catalog.*) 1000000, 9e18)::pg_catalog.int8 END,
    :regrouped:under
FROM pg_catalog.unnest(coalesce($1::pg_catalog.int8[], (
    SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 1 THEN pg_catalog.array_agg(d.id) END
    FROM (
        SELECT l.id
        FROM :table AS l
        WHERE l.due IS NOT NULL
            AND l.due OPERATOR(pg_catalog.>=) $8::pg_catalog.timestamptz
            AND l.due OPERATOR(pg_catalog.<=) pg_catalog.statement_timestamp()
        ORDER BY l.due, l.id
        LIMIT 2
    ) AS d
))) AS c (id)
CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
    SELECT
        t.id, t.xmin AS version, t.xmax OPERATOR(pg_catalog.<>) 0 AND t.xmax OPERATOR(pg_catalog.<>) t.xmin AS locked, t.key, t.stop, t.base, t.plan, t."group", t.remote, t.max, t.priority, t.parent, t.attempt, t.timeout, t.live,
        t.count, t.save, t.drift, t.header, t.string, t.delimiter, t.escape, t.quote, t."null", t.rerun, :followed AS followed, t.overlap, t.interrupted, t.runs, t.input, t.data, t.settings, t.active, t.freed, greatest(t.created, t.freed) AS ready, t.skipped, x.expires:role_within
    FROM :table AS t
    CROSS JOIN LATERAL (SELECT
        t.attempt OPERATOR(pg_catalog.=) 0
        AND t.active OPERATOR(pg_catalog.>) '0'
        AND t.max OPERATOR(pg_catalog.>=) 0
        AND t.catchup OPERATOR(pg_catalog.=) 0 AS expires
    ) AS x
    WHERE t.id OPERATOR(pg_catalog.>=) c.id
        AND t.id OPERATOR(pg_catalog.<=) c.id
        AND (
            $1 IS NOT NULL
            OR t.max OPERATOR(pg_catalog.>=) 0 AND NOT :followed
        )
        AND t.state OPERATOR(pg_catalog.=) 'PLAN'
        AND t.due OPERATOR(pg_catalog.>) '-infinity' -- else its next beat, or what it waits for, is still to be found
        AND t.due OPERATOR(pg_catalog.<=) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) $3::pg_catalog.interval)
        AND (
            NOT x.expires
            OR greatest(:base, t.freed, $6::pg_catalog.timestamptz) OPERATOR(pg_catalog.+) least(t.active, '10000 years') OPERATOR(pg_catalog.>=) pg_catalog.statement_timestamp()
        )
        :guarded
    ORDER BY t.id
) AS t
:under_ours
