package work

import (
	"fmt"
	"testing"
)

func (s *stage) effects(id int64) string {
	s.t.Helper()
	return s.get("SELECT count(*) FROM effect WHERE id = $1", id)
}

// TestPolicies: a policy that forbids DONE undoes nothing. The row stays WORK as long as the policy
// is there, the log says so, and nothing runs twice.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := guarded(t, `
		CREATE POLICY seen ON task USING (data IS DISTINCT FROM 'odd' OR state NOT IN ('TAKE', 'WORK'))
			WITH CHECK (data IS DISTINCT FROM 'no end' OR state <> 'DONE')`)
	inputs := map[int64]string{}
	for _, input := range []string{effect, effect + "SELECT pg_sleep(0.3)", "BEGIN; " + effect + "COMMIT"} {
		inputs[s.add(`data, input, "group"`, "no end", input, input)] = input
	}
	for id, input := range inputs {
		s.says(`"level":"error"`, "row left unchanged", "row-level security policy", fmt.Sprintf(`"id":%d`, id))
		if row := s.row(id, "state, attempt"); row != `{"state":"WORK","attempt":1}` || s.effects(id) != "1" {
			t.Errorf("%s: %s, %s effects", input, row, s.effects(id))
		}
		s.others()
	}
	// A task that must be marked, and cannot be.
	odd := s.add("data, input, rerun", "odd", "SELECT 1", false)
	s.others()
	s.becomes(odd, "FAIL")
}
