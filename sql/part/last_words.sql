-- Columns of the task t for the log, as bytes, since some texts cannot be sent as text.
(t.repeat > '0' OR t.cron IS NOT NULL),
    t.state::text,
    convert_to(left(t."group", 200), getdatabaseencoding()),
    convert_to(left(t.key, 200), getdatabaseencoding()),
    convert_to(left(t.sqlstate, 200), getdatabaseencoding()),
    convert_to(left(CASE WHEN t.state = 'GONE' THEN t.error ELSE split_part(t.error, E'\n', 1) END, 500), getdatabaseencoding()),
    t.state = 'DONE' AND t."delete" AND t.output IS NULL AND t.notice IS DISTINCT FROM :output_lost
