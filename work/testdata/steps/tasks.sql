-- A bit of everything. data says what is promised: see wrong.sql.

BEGIN;

-- A lane of one slot. Effects and DONE commit together.
INSERT INTO task ("group", data, input)
SELECT 'lane', 'exactly', 'SELECT alone(), effect(''exactly'')' FROM generate_series(1, 3);

-- Ends that are collected; some of these are sent several at once.
INSERT INTO task ("group", data, input)
SELECT 'read', 'nothing', 'SELECT ''read''' FROM generate_series(1, 32);

-- Has an effect without writing anything.
INSERT INTO task ("group", data, input)
VALUES ('notify', 'nothing', 'NOTIFY heard');

-- Shown as WORK while they run.
INSERT INTO task ("group", data, input)
VALUES ('long', 'exactly', 'SELECT effect(''long''), pg_sleep(0.12)'), ('long read', 'nothing', 'SELECT ''long read'', pg_sleep(0.12)');

-- A text that does not come with the claim.
INSERT INTO task ("group", data, input)
VALUES ('text', 'exactly', 'SELECT effect(''text'') --' || repeat(' x', 10000));

INSERT INTO task ("group", data, input, repeat)
VALUES ('repeat', 'exactly', 'SELECT effect(''repeat'')', '1 year'), ('repeat read', 'nothing', 'SELECT ''repeat''', '1 year');

INSERT INTO task ("group", data, input, repeat, key)
VALUES ('key', 'exactly', 'SELECT effect(''key'')', '1 year', 'k');

-- Not in a transaction of ours.
INSERT INTO task ("group", data, input, rerun)
VALUES ('least', 'least', 'BEGIN; SELECT effect(''least''); COMMIT', true), ('most', 'most', 'BEGIN; SELECT effect(''most''); COMMIT', false),
    ('vacuum', 'nothing', 'VACUUM effect', true), ('vacuum once', 'nothing at most', 'VACUUM effect', false);

INSERT INTO task ("group", data, input, remote)
VALUES ('remote', 'exactly', 'SELECT effect(''remote'')', 'self');

INSERT INTO task ("group", data, input, remote, rerun)
SELECT 'other ' || rerun, 'elsewhere', 'INSERT INTO effect VALUES (current_setting(''pg_task.id'')::int8)', 'other', rerun
FROM unnest('{true,false}'::bool[]) AS rerun;

INSERT INTO task ("group", data, input, retry, backoff)
VALUES ('retry', 'never', 'SELECT effect(''retry''), 1 / 0', 2, '1 ms');

-- Nothing to show: the row goes.
INSERT INTO task ("group", data, input)
VALUES ('delete', 'deleted', 'SELECT FROM effect(''deleted'') WHERE effect IS NULL'), ('delete read', 'deleted', '-- nothing');

-- One that another one stops, while it runs or before.
INSERT INTO task ("group", data, input, repeat)
VALUES ('stopped', 'stopped', 'SELECT effect(''stopped''), pg_sleep(60)', '1 year'),
    ('stop', 'nothing', 'SELECT pg_sleep(0.05); UPDATE task SET state = ''STOP'' WHERE data = ''stopped''; SELECT 1', '0');

-- One at a time, with a pause of 20 ms.
INSERT INTO task ("group", data, input, max, drift)
SELECT 'pause', 'exactly', 'SELECT alone(), effect(''pause'')', -20, true FROM generate_series(1, 2);

INSERT INTO task ("group", data, input, plan, active, repeat)
VALUES ('gone', 'gone', 'SELECT effect(''gone'')', now() - interval '2 hours', '1 hour', '1 year');

COMMIT;
