-- Reads the chosen tasks, except those that have changed since, or whose time in active has passed.
-- Long texts are NULL here; they are read when the task starts. Group and remote come as keys, as
-- in scan.sql, and as names if these differ from the keys.
-- $1 ids; NULL: the only due task, unless its lane may have to pause first or the task repeats
-- itself; $2 longest text to return, in bytes, $3 whether all texts are NULL, since one of them
-- cannot be sent, $4 when the server last crashed: tasks that were due by then are marked before
-- they start; $5 when the last pause of a group ended, which may count as the plan (NULL: none
-- has), $6 version of the limits of groups, $7 the least due of the only due task: below it the
-- server may have to read past all ended tasks, as long as somebody's transaction lasts
SELECT
    t.id,
    -- NULL tells that the row lacks one and cannot be read
    CASE WHEN num_nulls(t.input, t."group", t."null") = 0 THEN t.version END AS "input, group or null",
    t.key IS NOT NULL
        OR t.overlap
        OR t.stop IS NOT NULL -- it has ended, and somebody has set it to PLAN
        OR t.locked
        OR (coalesce(t.base, t.plan) <= $4) IS TRUE,
    CASE WHEN t.expires THEN greatest(:base, t.freed) + least(t.active, '10000 years') END,
    :key_of_group,
    coalesce(:key_of_remote, ''),
    t.max,
    t.priority,
    t.parent,
    t.plan,
    CASE WHEN t.stop IS NULL THEN least(t.attempt, 2147483646) ELSE 0 END + 1,
    CASE WHEN t.timeout <> '0' THEN least(date_part('epoch', t.timeout) * 1000000, 9e18)::int8 ELSE 0 END,
    CASE WHEN t.live <> '0' THEN least(date_part('epoch', t.live) * 1000000, 9e18)::int8 ELSE 0 END,
    t.count,
    t.save,
    t.drift,
    t.header,
    t.string,
    t.delimiter,
    t.escape,
    t.quote,
    (t.format = 'json') IS TRUE,
    CASE WHEN octet_length(t."null") <= 1000 AND NOT $3::bool THEN t."null" END,
    t.rerun,
    NOT t.followed,
    t.stop IS NULL AND t.interrupted > 1 AND coalesce(
        jsonb_array_length(jsonb_path_query_array(t.runs, '$[*] ? (@.cause == "crash")')) > 1,
        false
    ),
    CASE WHEN octet_length(t.input) <= $2 THEN t.input END,
    CASE WHEN t.data IS NULL THEN '' WHEN octet_length(t.data) <= $2 THEN t.data END,
    (
        SELECT coalesce(sum(hashtext( -- not of what is set: a role may give itself megabytes
            concat(s.xmin, ' ', s.ctid, ' ', s.setdatabase, ' ', s.setrole)
        )::int8), 0)::int8
        FROM pg_db_role_setting AS s
        WHERE s.setdatabase = ANY (ARRAY[
                0::oid,
                (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            ])
            AND s.setrole = ANY (ARRAY[
                0::oid,
                quote_ident(session_user)::regrole::oid:role_of_settings
            ])
    ),
    EXISTS (SELECT FROM pg_foreign_server),
    CASE WHEN t.settings IS NOT NULL THEN convert_to( -- as bytes: it may contain characters that cannot be sent
        CASE
            WHEN pg_column_size(t.settings) <= 65536 AND octet_length(t.settings::text) <= 65536
                THEN t.settings::text
            ELSE '{"settings of over 64 kB": ""}' -- which no trigger has refused, and which the server knows no setting of
        END,
        getdatabaseencoding()
    ) END,
    :group_itself,
    :remote_itself,
    CASE WHEN t.ready > t.plan AND t.ready < 'infinity' THEN t.ready END,
    CASE WHEN NOT $3 THEN t.key END,
    t.skipped,
    CASE WHEN t.expires AND $5::timestamptz IS NOT NULL THEN least(date_part('epoch', t.active) * 1000000, 9e18)::int8 END,
    :regrouped:under
FROM unnest(coalesce($1::int8[], (
    SELECT CASE WHEN count(*) = 1 THEN array_agg(d.id) END
    FROM (
        SELECT l.id
        FROM :table AS l
        WHERE l.due IS NOT NULL
            AND l.due >= $7::timestamptz
            AND l.due <= statement_timestamp()
        ORDER BY l.due, l.id
        LIMIT 2
    ) AS d
))) AS c (id)
CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
    SELECT
        t.id, t.xmin AS version, t.xmax <> 0 AND t.xmax <> t.xmin AS locked, t.key, t.stop, t.base, t.plan, t."group", t.remote, t.max, t.priority, t.parent, t.attempt, t.timeout, t.live,
        t.count, t.save, t.drift, t.header, t.string, t.delimiter, t.escape, t.quote, t.format, t."null", t.rerun, :followed AS followed, t.overlap, t.interrupted, t.runs, t.input, t.data, t.settings, t.active, t.freed, greatest(t.created, t.freed) AS ready, t.skipped, x.expires:role_within
    FROM :table AS t
    CROSS JOIN LATERAL (SELECT
        t.attempt = 0
        AND t.active > '0'
        AND t.max >= 0
        AND t.catchup = 0 AS expires
    ) AS x
    WHERE t.id BETWEEN c.id AND c.id
        AND (
            $1 IS NOT NULL
            OR t.max >= 0 AND NOT :followed
        )
        AND t.state = 'PLAN'
        AND t.due > '-infinity' -- else its next beat, or the task that it waits for, is not known yet
        AND t.due <= statement_timestamp()
        AND (
            NOT x.expires
            OR greatest(:base, t.freed, $5::timestamptz) + least(t.active, '10000 years') >= statement_timestamp()
        )
        :and_guarded
    ORDER BY t.id
) AS t
:under_ours
