package browser

import (
	"testing"

	"pgtaskd/server/servertest"
)

// TestPictures takes pictures of the pages, light, dark and as on a phone; make pictures keeps them
// in docs/page.
func TestPictures(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(example)
	servertest.Wait(t, patience, "some that run, and some that have ended", func() bool {
		return s.get(`SELECT count(*) FILTER (WHERE state = 'WORK') >= 2 AND count(*) FILTER (WHERE state = 'DONE') >= 60 AND count(*) FILTER (WHERE state = 'FAIL') >= 6 FROM task`) == "true"
	})
	b := s.open("ann")
	failed := "/task?id=" + s.get(`SELECT min(id) FROM task WHERE state = 'FAIL'`)
	for _, shot := range []struct {
		name, path    string
		width, height int64
		dark          bool
	}{
		{"home", "/", 1280, 800, false},
		{"home-dark", "/", 1280, 800, true},
		{"home-phone", "/", 390, 844, false},
		{"tasks", "/tasks", 1280, 800, false},
		{"tasks-phone-dark", "/tasks", 390, 844, true},
		{"task", failed, 1280, 800, false},
		{"lanes", "/lanes", 1280, 800, false},
		{"running", "/running", 1280, 800, true},
	} {
		b.visit(shot.path)
		b.shoot(shot.name, shot.width, shot.height, shot.dark)
	}
}

// example is a database like those of users: jobs that run and fail, queues, a pause.
const example = `
INSERT INTO task (input, key, repeat, "group", plan, data)
VALUES ('SELECT pg_sleep(0.05 + random() * 0.2), ''refreshed''', 'refresh sales', '1 s', 'reports', now(), NULL),
	('SELECT CASE WHEN random() < 0.3 THEN 1/0 ELSE count(*) END FROM generate_series(1, 100000)', 'import orders', '1 s', 'imports', now(), '{"from": "erp"}'),
	('SELECT 1/0', 'check stock', '2 s', 'imports', now(), NULL);
INSERT INTO task (input, key, cron, "group")
VALUES ('VACUUM', 'nightly vacuum', 'CRON_TZ=Europe/Berlin 30 3 * * *', 'maintenance'),
	('REFRESH MATERIALIZED VIEW sales', 'close of month', '0 6 L * *', 'reports'),
	('SELECT send_digest()', 'digest', '0 8 * * 1-5', 'mail');
INSERT INTO task (input, "group", data, max)
SELECT 'SELECT pg_sleep(0.1), ''mail to '' || (current_setting(''pg_task.data'')::jsonb ->> ''to'')', 'mail', jsonb_build_object('to', 'customer ' || n), 2 FROM generate_series(1, 60) AS n;
INSERT INTO task (input, "group") VALUES ('SELECT pg_sleep(900)', 'exports'), ('SELECT pg_sleep(900)', 'backups');
INSERT INTO task (input, "group", retry, backoff) VALUES ('SELECT charge(17)', 'payments', 2, '1 s');
INSERT INTO task (input, "group", after) SELECT 'SELECT ''after the export''', 'exports', ARRAY[max(id)] FROM task WHERE "group" = 'exports';
INSERT INTO task_group ("group", paused, note) VALUES ('payments%', true, 'the bank is down until noon');
UPDATE task SET state = 'STOP' WHERE key = 'digest';
`
