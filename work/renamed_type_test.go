package work

import (
	"fmt"
	"testing"
)

// writes are tasks by what their ends and repetitions are, in which all states are written that
// are; and the states of these and of what follows on them.
var writes = map[string]struct{ columns, values, states string }{
	"plain":    {"input", "'SELECT 1'", "DONE"},
	"notice":   {"input", "'DO $b$BEGIN RAISE NOTICE ''x''; END$b$'", "DONE"},
	"marked":   {"input, rerun", "'VACUUM pg_catalog.pg_am', false", "DONE"},
	"failed":   {"input", "'SELECT 1 / 0'", "FAIL"},
	"cron":     {"input, cron", "'SELECT 1', '0 0 1 1 *'", "PLAN"},
	"repeated": {"input, repeat", "'SELECT 1', '1 day'", "DONE PLAN"},
	"paused":   {"input, repeat, max_failures", "'SELECT 1 / 0', '1 day', 1", "FAIL STOP"},
	"overlaps": {"input, repeat, max_failures, overlap", "'SELECT 1 / 0', '1 day', 1, true", "FAIL STOP"},
}

// TestANameOfTheTypeOfStatesIsNotLookedUp: who takes it, when the owner has renamed or moved that
// type while the table is served, has nothing of theirs run.
func TestANameOfTheTypeOfStatesIsNotLookedUp(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(map[string]struct {
		inserter     bool
		frees, moved string
	}{
		"renamed":               {false, "ALTER TYPE state RENAME TO other", "public.other"},
		"moved":                 {false, "CREATE SCHEMA elsewhere; GRANT USAGE ON SCHEMA elsewhere TO $w, $m; ALTER TYPE state SET SCHEMA elsewhere", "elsewhere.state"},
		"renamed, of inserters": {true, "ALTER TYPE state RENAME TO other", "public.other"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, false)
			s.target.Inserter = c.inserter
			s.serve()
			s.settled()
			add := func(data, columns, values string) {
				do(fmt.Sprintf(`SET ROLE $w; INSERT INTO task (data, "group", %s) VALUES ('%s', '%[2]s', %s)`, columns, data, values))
			}
			becomes := func(data, states string) {
				s.eventually(states, "SELECT coalesce(string_agg(state::text, ' ' ORDER BY id), '') FROM task WHERE data = $1", data)
			}
			for data, task := range writes { // has all statements prepared
				add("before, "+data, task.columns, task.values)
			}
			for data, task := range writes {
				becomes("before, "+data, task.states)
			}
			s.exec("SELECT pg_advisory_lock(1)")
			add("superseded", "input, key, repeat", "'SELECT pg_advisory_xact_lock(1)', 'k', '1 day'")
			becomes("superseded", "WORK")

			do("CREATE SEQUENCE calls; GRANT ALL ON calls TO PUBLIC; " + c.frees) // a number that is drawn stays drawn
			do("SET ROLE $m; CREATE FUNCTION called(text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('public.calls'); RETURN true; END$$; " +
				"CREATE DOMAIN state AS " + c.moved + " CHECK (public.called(VALUE::text))")
			s.exec("ANALYZE task") // has the statements analysed again
			for data, task := range writes {
				add(data, task.columns, task.values)
			}
			for data, task := range writes {
				becomes(data, task.states)
			}
			add("waits", "input, key, plan", "'', 'k', 'infinity'")
			s.exec("SELECT pg_advisory_unlock(1)")
			becomes("superseded", "DONE GONE")
			cut := s.add("input, state, pid, start, plan", "SELECT 1", "WORK", 1, "2020-01-01", "2020-01-01")
			s.eventually("1", "SELECT interrupted FROM task WHERE id = $1", cut)
			if s.get("SELECT is_called FROM calls") == "true" {
				t.Errorf("the stranger's function was called %s times", s.get("SELECT last_value FROM calls"))
			}
		})
	}
}
