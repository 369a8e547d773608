package smoke

import "testing"

func TestPlanAgain(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT 1/0'")
	u.shows(u.becomes(id, "FAIL"), "sqlstate", "22012", "attempt", "1", "runs", "NULL")
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 2' WHERE id = " + id)
	row := u.becomes(id, "DONE")
	u.shows(row, "error", "NULL", "sqlstate", "NULL", "output", "2", "attempt", "1")
	u.is("(SELECT jsonb_array_length(runs) || (runs #>> '{0,error}') FROM task WHERE id = $1)", "1ERROR:  division by zero\nSTATEMENT:  SELECT 1/0", id)

	// A failed task keeps its error until it has run well.
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT pg_sleep(0.5), 1/(random()*0)::int' WHERE id = " + id)
	u.becomes(id, "FAIL")
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT pg_sleep(2)' WHERE id = " + id)
	u.shows(u.becomes(id, "WORK"), "sqlstate", "22012", "stop", "NULL")
	u.shows(u.becomes(id, "DONE"), "sqlstate", "NULL")
}

// TestStartAndStopAreOfTheLastRun: they are null again whenever the row returns to PLAN.
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
