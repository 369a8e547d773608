package work

import (
	"bytes"
	"testing"
)

// TestLongGroup: it does not have to fit into a startup packet.
func TestLongGroup(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add(`input, "group"`, "SELECT length(current_setting('pg_task.group'))", string(bytes.Repeat([]byte("g"), 20_000)))
	s.becomes(id, "DONE")
	if row := s.row(id, "output"); row != `{"output":"20000"}` {
		t.Error(row)
	}
}
