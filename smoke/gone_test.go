package smoke

import "testing"

func TestGone(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	row := u.becomes(u.add("plan, active, input", "now() - interval '2 hours', '1 hour', 'SELECT 1'"), "GONE")
	u.shows(row, "error", "ERROR:  task not active\nDETAIL:  not started within active (1 hour) of its plan", "output", "NULL", "attempt", "0", "start", row.text("stop"), "next", "NULL")

	// Tasks that are always run, still in time, or not limited by active.
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

// TestGoneIsNotForThoseThatHaveRun: active no longer applies to a task that has run once, until it
// is set to PLAN, which makes it like new.
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
