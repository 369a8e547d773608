package smoke

import (
	"fmt"
	"testing"
)

func TestPauseWithDrift(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", max, drift, input) SELECT ` + g + `, -400, true, 'SELECT pg_sleep(0.2)' FROM generate_series(1, 4)`)
	u.ended(g, 4)
	// No pause is too short; on a busy machine some may be too long, but not all.
	u.is(`(SELECT CASE WHEN min(pause) >= '400 ms' AND min(pause) < '700 ms' THEN 'ok' ELSE string_agg(pause::text, ' ') END FROM
		(SELECT start - lag(stop) OVER (ORDER BY start) AS pause FROM task WHERE "group" = `+g+`) AS p WHERE pause IS NOT NULL)`, "ok")
}

// TestPauseWithoutDrift: the pauses end at the beats of the first plan.
func TestPauseWithoutDrift(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	prompt(t, func(try int) bool {
		g := fmt.Sprintf("'beat %d'", try)
		u.exec(`INSERT INTO task ("group", max, input) SELECT ` + g + `, -400, 'SELECT pg_sleep(0.5)' FROM generate_series(1, 3)`)
		u.ended(g, 3)
		return u.value(`SELECT bool_and(start > ended AND beat < 0.25 AND start < ended + interval '650 ms')
			FROM (SELECT start, mod(extract(epoch FROM start - first_value(plan) OVER w)::numeric, 0.4) AS beat, lag(stop) OVER w AS ended
				FROM task WHERE "group" = `+g+` WINDOW w AS (ORDER BY start)) AS p WHERE ended IS NOT NULL`) == "t"
	})
}

// TestPauseOfLateComers: a task that comes while the lane pauses waits, whatever its plan; a task
// that needs no pause does not wait.
func TestPauseOfLateComers(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	first := u.add("max, drift, input", `-600, true, 'SELECT 1'`)
	u.becomes(first, "DONE")
	second := u.add("max, drift, plan, input", `-600, true, now() - interval '1 min', 'SELECT 2'`)
	u.becomes(second, "DONE")
	u.is("(SELECT start >= (SELECT stop + interval '600 ms' FROM task WHERE id = $1) FROM task WHERE id = $2)", "t", first, second)
}
