package schema

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// scheduled selects the columns of the schedule that are the same in every run of the test.
const scheduled = `SELECT coalesce(string_agg(concat_ws('|', key, chain, expression, coalesce(zone, '-'), next_run > now(), last_start, last_end, state, error, failures, skipped, given_up_after - next_run), ' ' ORDER BY chain), 'nothing') FROM task_schedule`

// TestTheScheduleShowsWhatRepeats: a row for each chain that waits, is paused or runs, with its
// last run.
func TestTheScheduleShowsWhatRepeats(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "SET TimeZone = 'UTC'; SET session_replication_role = replica; INSERT INTO task_leader (controller, leads, since, seen, timezone) VALUES ('c', true, now(), now(), 'Asia/Tokyo')")
	for _, c := range []struct{ name, rows, want string }{
		{"once", "(1, '', NULL, '0', '2020-01-01', 'PLAN', NULL, NULL, NULL, NULL)", "nothing"},
		{"waits", "(1, 'k', '0 3 * * *', '0', '2100-01-01', 'PLAN', NULL, NULL, NULL, NULL)", "k|1|0 3 * * *|Asia/Tokyo|t|PLAN|0|0|01:00:00"},
		{"has a zone", "(1, NULL, 'CRON_TZ=Europe/Berlin 0 3 * * *', '0', '2100-01-01', 'PLAN', NULL, NULL, NULL, NULL)", "1|0 3 * * *|Europe/Berlin|t|PLAN|0|0|01:00:00"},
		{
			"ran", "(1, NULL, NULL, '1 day', '2020-01-01', 'FAIL', '2020-01-01', '2020-01-02', NULL, 2), (2, NULL, NULL, '1 day', '2100-01-01', 'PLAN', NULL, NULL, 1, NULL)",
			"2|1 day|Asia/Tokyo|t|2020-01-01 00:00:00+00|2020-01-02 00:00:00+00|FAIL|e|0|0|01:00:00",
		},
		{"runs", "(1, NULL, NULL, '1 day', '2020-01-01', 'WORK', '2020-01-01', NULL, NULL, NULL)", "1|1 day|Asia/Tokyo|2020-01-01 00:00:00+00|WORK|0|0"},
		{"is paused", "(1, NULL, NULL, '1 day', '2020-01-01', 'STOP', NULL, NULL, NULL, NULL)", "1|1 day|Asia/Tokyo|STOP|0|0"},
		{"is stopped", "(1, NULL, NULL, '1 day', '2020-01-01', 'STOP', '2020-01-01', '2020-01-01', NULL, NULL)", "nothing"},
		{
			"overlaps", "(1, NULL, NULL, '1 day', '2020-01-01', 'WORK', '2020-01-01', NULL, NULL, 2), (2, NULL, NULL, '1 day', '2100-01-01', 'PLAN', NULL, NULL, 1, NULL)",
			"2|1 day|Asia/Tokyo|t|2020-01-01 00:00:00+00|WORK|0|0|01:00:00",
		},
	} {
		execute(t, conn, "TRUNCATE task; INSERT INTO task (id, key, cron, repeat, plan, state, start, stop, parent, next, input, error) SELECT id, nullif(key, ''), cron, repeat::interval, plan::timestamptz, state::state, start::timestamptz, stop::timestamptz, parent::int8, next::int8, '', CASE WHEN state = 'FAIL' THEN 'e' END FROM (VALUES "+
			c.rows+") AS v (id, key, cron, repeat, plan, state, start, stop, parent, next)")
		equal(t, c.name, value(t, conn, scheduled), c.want)
	}
	execute(t, conn, "DROP TABLE task_leader; TRUNCATE task; INSERT INTO task (input, repeat, plan) VALUES ('', '1 day', '2100-01-01')")
	equal(t, "without the table of controllers", value(t, conn, "SELECT coalesce(zone, '-') || expression FROM task_schedule"), "-1 day")
}

// TestViewsCountTheNewest tasks by state, and errors by their first line.
func TestViewsCountTheNewest(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, `SET TimeZone = 'UTC'; SET session_replication_role = replica;
		INSERT INTO task (input, "group", plan, start, stop, state, error, sqlstate) SELECT '', 'g', '2020-01-01', timestamptz '2020-01-01' + i * interval '1 s', timestamptz '2020-01-01' + 3 * i * interval '1 s',
			'FAIL', E'ERROR:  e' || i % 2 || E'\nSTATEMENT:  ' || i, '22012' FROM generate_series(1, 4) AS i`)
	equal(t, "stat", value(t, conn, `SELECT concat_ws(' ', "group", state, count, waiting_avg, waiting_p50, waiting_p95, waiting_max, running_avg, running_p50, running_p95, running_max, last_error) FROM task_stat`),
		"g FAIL 4 00:00:02.5 00:00:02.5 00:00:03.85 00:00:04 00:00:05 00:00:05 00:00:07.7 00:00:08 ERROR:  e0")
	equal(t, "error", value(t, conn, "SELECT string_agg(concat_ws(' ', sqlstate, error, count, first, last, example), ', ' ORDER BY error) FROM task_error"),
		"22012 ERROR:  e0 2 2020-01-01 00:00:06+00 2020-01-01 00:00:12+00 4, 22012 ERROR:  e1 2 2020-01-01 00:00:03+00 2020-01-01 00:00:09+00 3")
	execute(t, conn, `SET pg_task.data = '{"a": 1}'`)
	equal(t, "data", value(t, conn, "SELECT task_data() ->> 'a'"), "1")
	execute(t, conn, "SET pg_task.data = ''")
	equal(t, "no data", value(t, conn, "SELECT coalesce(task_data(), '0')"), "0")
}

// TestViewsAreOpenToWhoeverMayRead the table: they run as the role that asks.
func TestViewsAreOpenToWhoeverMayRead(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	owner := connect(t, dsn)
	install(t, owner, task, nil)
	role := stranger(t, owner, "reader")
	execute(t, owner, `INSERT INTO task (input, repeat) VALUES ('', '1 day')`)
	conn := connect(t, dsn)
	execute(t, conn, "SET SESSION AUTHORIZATION "+role)
	for _, view := range []string{"schedule", "run", "stat", "error"} {
		refused(t, conn, "SELECT * FROM task_"+view, "42501")
	}
	execute(t, owner, "GRANT SELECT ON task TO "+role)
	for _, view := range []string{"schedule", "run", "stat", "error"} {
		execute(t, conn, "SELECT * FROM task_"+view)
	}
	equal(t, "rows", value(t, conn, "SELECT count(*) FROM task_schedule WHERE chain = 1"), "1")
	equal(t, "zone of who may not read the table of controllers", value(t, conn, "SELECT coalesce(max(zone), '-') FROM task_schedule"), "-")
}

// TestViewsStandInNobodysWay: the owner can alter and drop the table as if there were no views.
func TestViewsStandInNobodysWay(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, `ALTER TABLE task ALTER COLUMN error TYPE varchar(1000), ALTER COLUMN sqlstate TYPE varchar(5)`)
	for _, view := range []string{"schedule", "run", "stat", "error"} {
		execute(t, conn, "SELECT * FROM task_"+view)
	}
	execute(t, conn, "DROP TABLE task")
	install(t, conn, task, nil)
	execute(t, conn, "SELECT * FROM task_schedule; DROP VIEW task_schedule; CREATE VIEW mine AS SELECT * FROM task_stat; COMMENT ON VIEW task_stat IS '(pgtaskd schema 1 0)'")
	changes, err := Install(t.Context(), conn, task, Options{})
	if err != nil || len(changes) != 2 || changes[0].Failed != nil || changes[1].Failed != nil {
		t.Errorf("%v, %v", changes, err)
	}
	execute(t, conn, "SELECT * FROM task_schedule; SELECT * FROM mine")
}

// TestAMillionRowsDoNotMatter: the views read only a bounded part.
func TestAMillionRowsDoNotMatter(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, `SET session_replication_role = replica; ALTER TABLE task SET (autovacuum_enabled = false);
		INSERT INTO task (input, plan, start, stop, state) SELECT '', now(), now(), now(), 'DONE' FROM generate_series(1, 200000);
		INSERT INTO task (input, plan, repeat) SELECT '', now() + interval '1 day', '1 day' FROM generate_series(1, 100)`)
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			execute(t, conn, "VACUUM ANALYZE task")
		}
		for _, view := range []string{"schedule", "run"} {
			execute(t, conn, "SELECT * FROM task_"+view) // the first run reads catalogs, too
			if pages := pagesRead(t, conn, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT * FROM task_"+view); pages > 3000 {
				t.Errorf("task_%s reads %v pages (analyzed: %v)", view, pages, analyzed)
			}
		}
	}
}

// pagesRead returns the number of pages that a statement reads.
func pagesRead(t *testing.T, conn *pgx.Conn, sql string) float64 {
	t.Helper()
	var plan []map[string]any
	if err := conn.QueryRow(t.Context(), sql).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	top, ok := plan[0]["Plan"].(map[string]any)
	if !ok {
		t.Fatal(fmt.Sprint(plan))
	}
	hit, _ := top["Shared Hit Blocks"].(float64)
	read, _ := top["Shared Read Blocks"].(float64)
	return hit + read
}
