package work

import "testing"

// TestMissedBeats: the newest of the missed beats run, as many as catchup says. The first
// repetition tells how many were skipped.
func TestMissedBeats(t *testing.T) {
	t.Parallel()
	s := play(t)
	for _, c := range []struct {
		name, columns string
		beats         string // hours from each plan to the INSERT, and how many beats were skipped before
	}{
		{"all are passed over", "", "10.5+0 -0.5+10"},
		{"the newest are run", "catchup = 3", "10.5+0 2.5+7 1.5+0 0.5+0 -0.5+0"},
		{"fewer were missed", "catchup = 30, plan = plan + '8 hours'", "2.5+0 1.5+0 0.5+0 -0.5+0"},
		{"none was missed", "catchup = 3, plan = plan + '10 hours'", "0.5+0 -0.5+0"},
		{"no more than until", "catchup = 3, until = now() - interval '5 hours'", "10.5+0 7.5+2 6.5+0 5.5+0"},
		{"until is over", "until = now() - interval '5 hours'", "10.5+0"},
		{"as many as there may be", "catchup = 2147483647, until = now() - interval '7 hours'", "10.5+0 9.5+0 8.5+0 7.5+0"},
	} {
		for _, input := range []string{"SELECT 1", "SELECT 1/0", "CREATE TEMP TABLE IF NOT EXISTS t ()"} {
			set := c.columns
			if set == "" {
				set = "catchup = 0"
			}
			id := s.add("input, state, repeat, active, max, plan, data", input, "STOP", "1 hour", "0", 100, "2000-01-01", "")
			s.exec("UPDATE task SET plan = now() - interval '10.5 hours' WHERE id = $1", id)
			s.exec("UPDATE task SET "+set+", data = id, created = now() WHERE id = $1", id)
			began := s.get("SELECT created FROM task WHERE id = $1", id)
			s.exec("UPDATE task SET state = 'PLAN' WHERE id = $1", id)
			chain := "SELECT string_agg(round(extract(epoch FROM $2::timestamptz - plan)::numeric / 3600, 1)::float8 || '+' || skipped, ' ' ORDER BY id) FROM task WHERE data = $1::int8::text"
			s.eventually(c.beats, chain, id, began)
			s.eventually("0", "SELECT count(*) FROM task WHERE data = $1::int8::text AND plan < now() AND state IN ('PLAN', 'WORK')", id)
			if got := s.get(chain, id, began); got != c.beats {
				t.Errorf("%s, %s: %s, want %s", c.name, input, got, c.beats)
			}
		}
	}
}
