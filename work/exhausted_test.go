package work

import (
	"strings"
	"testing"
)

// TestExhaustedSequenceIsNamed: a repetition has no id then, which is no fault of the input's.
func TestExhaustedSequenceIsNamed(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8); ALTER SEQUENCE task_id_seq MAXVALUE 100")
	var ids []int64
	for i, input := range []string{"SELECT 1", "INSERT INTO effect VALUES (1)", "VACUUM effect", "SELECT 1/0"} {
		ids = append(ids, s.add(`input, repeat, plan, "group"`, input, "1 day", "infinity", string(rune('a'+i))))
	}
	s.exec("SELECT setval('task_id_seq', 100)")
	s.exec("UPDATE task SET plan = now()")
	for _, id := range ids {
		s.becomes(id, "FAIL", "DONE")
		text := s.get("SELECT error FROM task WHERE id = $1", id)
		if !strings.Contains(text, `"task_id_seq"`) || !strings.Contains(text, "repetition") || !strings.Contains(text, "\nHINT:  ") {
			t.Error(s.state(id), text)
		}
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "0" {
		t.Errorf("%s effects", n)
	}
}
