package sql

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestTheNameOfASessionIsNoRemedy: whoever can connect chooses it, and it is shown beside a statement
// that a person may run.
func TestTheNameOfASessionIsNoRemedy(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	install(t, conn, task, nil)
	execute(t, holder, "SET application_name = 'x''): DROP TABLE task --'; BEGIN; SELECT FROM task")
	const quoted = "('x''): DROP TABLE task --')"
	lines, err := Holders(t.Context(), conn, task, false)
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], quoted) {
		t.Errorf("got %q, %v", lines, err)
	}
}
