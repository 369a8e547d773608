-- What tasks, and pgbench, insert.
CREATE TABLE effect (n int4);

-- What pgbench updates: rows and indexes as those of tasks, without the triggers.
CREATE TABLE peer (LIKE task INCLUDING ALL) WITH (fillfactor = 50);
