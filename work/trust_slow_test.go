//go:build slow

package work

import (
	"testing"

	"pgtaskd/server/servertest"
)

// TestAnotherTableInItsPlaceIsNotServed: the log names its owner, whatever ran at that moment. The
// real table is served when it is back.
func TestAnotherTableInItsPlaceIsNotServed(t *testing.T) {
	t.Parallel()
	for kind, made := range map[string]string{
		"view":  "CREATE VIEW task AS SELECT * FROM old",
		"table": "CREATE TABLE task (LIKE old INCLUDING ALL)",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := owned(t)
			s.serve()
			s.settled()
			s.serves()
			running := s.add("input", "SELECT pg_sleep(1)")
			s.becomes(running, "WORK")
			role := s.role()
			s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + role)
			s.exec("BEGIN; ALTER TABLE task RENAME TO old; GRANT ALL ON old TO " + role + "; SET LOCAL ROLE " + role + "; " +
				made + "; GRANT ALL ON task TO PUBLIC; COMMIT")
			s.says(`"refuse"`, "role \\\""+role+"\\\" owns", kind)
			s.exec("DROP " + kind + " task; ALTER TABLE old RENAME TO task; REVOKE ALL ON task FROM " + role + "; REVOKE CREATE ON SCHEMA public FROM " + role)
			servertest.Wait(t, 2*patient, "led again", func() bool { return s.leads() > 1 })
			s.serves()
			s.becomes(running, "DONE")
		})
	}
}
