-- What the log says of the task t, as bytes, since not all can be sent as text.
(t.repeat OPERATOR(pg_catalog.>) '0' OR t.cron IS NOT NULL),
    t.state::pg_catalog.text,
    pg_catalog.convert_to(pg_catalog.left(t."group", 200), pg_catalog.getdatabaseencoding()),
    pg_catalog.convert_to(pg_catalog.left(t.key, 200), pg_catalog.getdatabaseencoding()),
    pg_catalog.convert_to(pg_catalog.left(t.sqlstate, 200), pg_catalog.getdatabaseencoding()),
    pg_catalog.convert_to(pg_catalog.left(pg_catalog.split_part(t.error, E'\n', 1), 500), pg_catalog.getdatabaseencoding())
