package work

import (
	"strings"
	"testing"

	"pgtaskd/remote"
)

// TestATableOfTheVersionBeforeIsServed: by a role with least rights that may not change it. The log
// says at info level what it lacks.
func TestATableOfTheVersionBeforeIsServed(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	role := s.role()
	s.exec(`ALTER TABLE task DROP COLUMN owner, DROP COLUMN priority CASCADE, DROP COLUMN on_fail, DROP COLUMN rerun, DROP COLUMN succeeded;
		DROP FUNCTION task_why; DROP VIEW task_error; DROP TABLE task_act;
		DO $$ BEGIN EXECUTE replace(pg_get_functiondef('pgtaskd_accept'::regproc), 'END', E'-- of a version before\nEND'); END $$;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC;
		GRANT SELECT, INSERT, UPDATE, DELETE ON task, task_leader, task_group, task_session TO ` + role + `;
		GRANT SELECT ON SEQUENCE task_group_changes TO ` + role + `; GRANT USAGE ON SEQUENCE task_id_seq TO ` + role)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.target.Admin, s.target.Create = s.target.Connect, false
	const says = `lacks column rerun, column priority, column owner, column on_fail, column succeeded`
	if r := Check(t.Context(), s.target); len(r.Faults) > 0 || !strings.Contains(strings.Join(r.Lines, "\n"), says) {
		t.Errorf("check: %q, %q", r.Lines, r.Faults)
	}
	s.serve()
	s.settled()
	id := s.add("input, repeat, until", "SELECT 1", "1 day", "2100-01-01")
	s.becomes(id, "DONE")
	s.eventually("1", "SELECT count(*) FROM task WHERE parent = $1 AND state = 'PLAN'", id)
	s.becomes(s.add(`input, "group"`, "SELECT 1/0", "other"), "FAIL")
	after := s.add("input, after", "SELECT 1", []int64{id})
	s.becomes(after, "DONE")
	for line := range strings.Lines(s.logged()) {
		if strings.Contains(line, `"warn"`) || strings.Contains(line, `"error"`) {
			t.Error(line)
		}
	}
	for _, what := range []string{says, "what may not be replaced: function pgtaskd_accept"} {
		if n := strings.Count(s.logged(), what); n != 1 {
			t.Errorf("%d lines say %q", n, what)
		}
	}
}
