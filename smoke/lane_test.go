package smoke

import (
	"fmt"
	"testing"
)

// group is a name for a test's own lane; all tests share the table.
func group(t *testing.T) string { return literal(t.Name()) }

// ended waits until a group has n ended tasks.
func (u *user) ended(group string, n int) {
	u.Helper()
	u.until(fmt.Sprintf(`SELECT count(*) >= %d FROM %s WHERE "group" = %s AND stop IS NOT NULL`, n, u.table, group))
}

// together returns how many tasks of a condition ran at once, at most.
func (u *user) together(condition string) string {
	u.Helper()
	return u.value("SELECT max((SELECT count(*) FROM " + u.table + " AS o WHERE o.start <= t.start AND t.start < o.stop AND " + condition +
		")) FROM " + u.table + " AS t WHERE " + condition)
}

func TestMax(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			u := shared.user(t)
			g := group(t)
			u.exec(fmt.Sprintf(`INSERT INTO task ("group", max, input) SELECT %s, %d, 'SELECT pg_sleep(0.4)' FROM generate_series(1, 8)`, g, most))
			u.ended(g, 8)
			if got, want := u.together(`"group" = `+g), fmt.Sprint(most+1); got != want {
				t.Errorf("%s ran together, want %s", got, want)
			}
		})
	}
}

// TestMaxOfEachTask: each task's own max counts.
func TestMaxOfEachTask(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	long := u.add("input", `'SELECT pg_sleep(2)'`)
	u.becomes(long, "WORK")
	alone := u.add("input", `'SELECT 1'`)
	beside := u.add("max, input", `1, 'SELECT 1'`)
	u.ended(g, 3)
	u.is("(SELECT start < (SELECT stop FROM task WHERE id = $1) FROM task WHERE id = $2)", "t", long, beside)
	u.is("(SELECT start >= (SELECT stop FROM task WHERE id = $1) FROM task WHERE id = $2)", "t", long, alone)
}

// TestRemoteMakesALane: the same group with another remote is another lane.
func TestRemoteMakesALane(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", remote, input) SELECT ` + g + `, remote, 'SELECT pg_sleep(2)' FROM unnest(ARRAY[NULL, 'elsewhere', 'dbname=postgres']) AS remote`)
	u.ended(g, 3)
	if got := u.together(`"group" = ` + g); got != "3" {
		t.Errorf("%s ran together, want 3", got)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	never := u.add("plan, input", `'infinity', 'SELECT 1'`)
	prompt(t, func(try int) bool {
		g := fmt.Sprintf("'plan %d'", try)
		u.exec(`INSERT INTO task ("group", data, plan, input) SELECT ` + g + `, n, now() + n * interval '300 ms', 'SELECT 1' FROM generate_series(1, 3) AS n`)
		u.ended(g, 3)
		u.is(`(SELECT string_agg(data, ' ' ORDER BY start) FROM task WHERE "group" = `+g+`)`, "1 2 3")
		u.is(`(SELECT bool_and(start >= plan) FROM task WHERE "group" = `+g+`)`, "t")
		return u.value(`SELECT bool_and(start < plan + interval '290 ms') FROM task WHERE "group" = `+g) == "t"
	})
	u.shows(u.task(never), "state", "PLAN")
	u.exec("UPDATE task SET plan = now() WHERE id = " + never)
	u.becomes(never, "DONE")
}

func TestRun(t *testing.T) {
	t.Parallel()
	u := own(t, object{"run": 3}).user(t)
	u.exec(`INSERT INTO task ("group", input) SELECT n, 'SELECT pg_sleep(0.4)' FROM generate_series(1, 10) AS n`)
	u.until("SELECT count(*) = 10 FROM task WHERE state = 'DONE'")
	if got := u.together("true"); got != "3" {
		t.Errorf("%s ran together, want 3", got)
	}

	// A busy lane starves no other lane.
	u.exec(`INSERT INTO task ("group", max, input) SELECT 'busy', 100, 'SELECT pg_sleep(0.1)' FROM generate_series(1, 15) AS n`)
	u.until(`SELECT count(*) > 0 FROM task WHERE "group" = 'busy' AND state IN ('WORK', 'DONE')`)
	u.exec(`INSERT INTO task ("group", input) VALUES ('modest', 'SELECT 1')`)
	u.exec(`INSERT INTO task ("group", priority, input) VALUES ('urgent', 1, 'SELECT 1')`)
	u.until(`SELECT count(*) = 17 FROM task WHERE "group" IN ('busy', 'modest', 'urgent') AND state = 'DONE'`)
	u.is(`(SELECT count(*) > 3 FROM task AS b, task AS m WHERE b."group" = 'busy' AND m."group" = 'modest' AND b.start > m.start)`, "t")
	u.is(`(SELECT count(*) > 3 FROM task AS b, task AS m WHERE b."group" = 'busy' AND m."group" = 'urgent' AND b.start > m.start)`, "t")
}

// scanned waits until the leader has found the tasks that wait: a later task of another lane has
// ended.
func (u *user) scanned() {
	u.Helper()
	u.becomes(u.add(`input, "group"`, "'SELECT 1', "+literal(u.Name()+", scanned")), "DONE")
}

// TestWhatWaitsIsWhatItsRowSaysWhenItStarts: a waiting task runs as its row says when it starts.
func TestWhatWaitsIsWhatItsRowSaysWhenItStarts(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	group := group(t)
	long := u.add(`input, "group"`, "'SELECT pg_sleep(2)', "+group)
	u.becomes(long, "WORK")
	columns := `input, "group"`
	changed, later, old, deleted, stopped := u.add(columns, "'SELECT 1', "+group), u.add(columns, "'SELECT 1', "+group), u.add(columns, "'SELECT 1', "+group),
		u.add(columns, "'SELECT 1', "+group), u.add(columns, "'SELECT 1', "+group)
	u.scanned()
	u.exec("UPDATE task SET input = 'SELECT 2' WHERE id = " + changed)
	u.exec("UPDATE task SET plan = 'infinity' WHERE id = " + later)
	u.exec("UPDATE task SET active = '1 s' WHERE id = " + old)
	u.exec("DELETE FROM task WHERE id = " + deleted)
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + stopped)
	u.shows(u.becomes(changed, "DONE"), "output", "2", "attempt", "1")
	u.becomes(old, "GONE")
	last := u.add(columns, "'SELECT 1', "+group)
	u.becomes(last, "DONE")
	u.is("(SELECT string_agg(concat(state, stop), ' ' ORDER BY id) FROM task WHERE id IN ("+later+", "+stopped+"))", "PLAN STOP")
}

// TestWhatWaitsStartsWhenItsMaxIsRaised: a larger max of a waiting task counts at once.
func TestWhatWaitsStartsWhenItsMaxIsRaised(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	group := group(t)
	long := u.add(`input, "group"`, "'SELECT pg_sleep(3)', "+group)
	u.becomes(long, "WORK")
	waiting := u.add(`input, "group"`, "'SELECT pg_sleep(0.3)', "+group)
	u.scanned()
	u.exec("UPDATE task SET max = 1 WHERE id = " + waiting)
	u.becomes(waiting, "DONE")
	u.is("(SELECT state FROM task WHERE id = "+long+")", "WORK")
}
