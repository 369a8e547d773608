package smoke

import "testing"

func TestGone(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	row := u.becomes(u.add("plan, active, input", "now() - interval '2 hours', '1 hour', 'SELECT 1'"), "GONE")
	u.shows(row, "error", "ERROR:  task not active", "output", "NULL", "attempt", "0", "start", row.text("stop"), "next", "NULL")

	// Always worth it, still worth it, or not to be measured by its plan.
	u.becomes(u.add("plan, active, input", "now() - interval '2 hours', '0', 'SELECT 1'"), "DONE")
	u.becomes(u.add("plan, active, input", "now() - interval '2 hours', '3 hours', 'SELECT 1'"), "DONE")
	u.becomes(u.add("plan, active, max, input", `now() - interval '2 hours', '1 hour', -1, 'SELECT 1'`), "DONE")
}

func TestGoneRepeats(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("plan, active, repeat, input", "now() - interval '3 days 2 hours', '1 hour', '1 day', 'SELECT 1'")
	next := u.task(u.becomes(id, "GONE").text("next"))
	u.shows(next, "state", "PLAN", "parent", id, "error", "NULL", "attempt", "0")
	u.is("(SELECT n.plan = t.plan + interval '4 days' FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1)", "t", id)
}

// A task that has run once is not measured any more, until it is set to PLAN, which makes it as
// new.
func TestGoneIsNotForThoseThatHaveRun(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("plan, active, retry, backoff, input", "now(), '1 hour', 1, '1 day', 'SELECT 1/0'")
	u.until("SELECT attempt = 1 AND state = 'PLAN' FROM task WHERE id = $1", id)
	u.exec("UPDATE task SET base = now() - interval '3 hours', plan = now() - interval '2 hours', input = 'SELECT 1' WHERE id = " + id)
	u.becomes(id, "DONE")
	u.exec("UPDATE task SET state = 'PLAN', plan = now() - interval '2 hours' WHERE id = " + id)
	u.becomes(id, "GONE")
	u.exec("UPDATE task SET state = 'PLAN' WHERE id = " + id)
	u.becomes(id, "DONE")
}

// A row is deleted when it has nothing to show.
func TestDelete(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for _, input := range []string{"''", "'SELECT 1 WHERE false'", "'-- nothing'", "'COPY (SELECT 1 WHERE false) TO STDOUT'"} {
		id := u.add("input", input)
		u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1)", id)
	}
	u.becomes(u.add("input", "'SELECT pg_sleep(0)'"), "DONE")
	u.becomes(u.add("input", "'CREATE TEMP TABLE x ()'"), "DONE")
	u.becomes(u.add("input, delete", "'', false"), "DONE")
	u.becomes(u.add("input", "'DO $$ BEGIN RAISE division_by_zero; END $$'"), "FAIL")
	u.becomes(u.add("input, plan, active", "'', now() - interval '1 day', '1 hour'"), "GONE")
}

// A repetition does not need its parent.
func TestDeleteAndRepeat(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat", `'', '1 day'`)
	u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1)", id)
	u.is("(SELECT state FROM task WHERE parent = $1)", "PLAN", id)
}

func TestPlanAgain(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT 1/0'")
	u.shows(u.becomes(id, "FAIL"), "sqlstate", "22012", "attempt", "1", "runs", "NULL")
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 2' WHERE id = " + id)
	row := u.becomes(id, "DONE")
	u.shows(row, "error", "NULL", "sqlstate", "NULL", "output", "2", "attempt", "1")
	u.is("(SELECT jsonb_array_length(runs) || (runs #>> '{0,error}') FROM task WHERE id = $1)", "1ERROR:  division by zero\nSTATEMENT:  SELECT 1/0", id)

	// What failed keeps its error until it has run well.
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT pg_sleep(0.5), 1/(random()*0)::int' WHERE id = " + id)
	u.becomes(id, "FAIL")
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT pg_sleep(2)' WHERE id = " + id)
	u.shows(u.becomes(id, "WORK"), "sqlstate", "22012", "stop", "NULL")
	u.shows(u.becomes(id, "DONE"), "sqlstate", "NULL")
}

// Null again whenever the row returns to PLAN.
func TestStartAndStopAreOfTheLastRun(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, retry, backoff", "'SELECT 1/0', 1, '1 hour'")
	u.until("SELECT attempt = 1 AND state = 'PLAN' FROM task WHERE id = $1", id)
	row := u.task(id)
	u.shows(row, "start", "NULL", "stop", "NULL", "error", "ERROR:  division by zero\nSTATEMENT:  SELECT 1/0", "sqlstate", "22012")
	u.is("(SELECT (runs #>> '{0,cause}') || ' ' || ((runs #>> '{0,start}') IS NOT NULL) FROM task WHERE id = $1)", "retry true", id)
	u.is("(SELECT base < plan - interval '50 min' AND plan < now() + interval '67 min' FROM task WHERE id = $1)", "t", id)
	u.exec("UPDATE task SET plan = now() WHERE id = " + id)
	u.shows(u.becomes(id, "FAIL"), "attempt", "2")
}
