//go:build slow

package work

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestTimeoutThatTheSQLWithstandsIsTold: its backend is ended, and the row says why.
func TestTimeoutThatTheSQLWithstandsIsTold(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	s := play(t)
	const withstands = "DO $$BEGIN LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END$$"
	var ids []int64
	for i, input := range []string{withstands, "COMMIT; " + withstands, withstands} {
		ids = append(ids, s.add(`input, timeout, "group", rerun`, input, "300 ms", string(rune('a'+i)), i < 2))
	}
	for _, id := range ids {
		servertest.Wait(t, 3*patient, "FAIL", func() bool { return s.state(id) == "FAIL" })
		if code := s.get("SELECT sqlstate FROM task WHERE id = $1", id); code != "57014" {
			t.Error(code)
		}
		if text := s.get("SELECT error FROM task WHERE id = $1", id); !strings.HasPrefix(text, "ERROR:  canceling statement due to statement timeout\nDETAIL:  The task's timeout of 300 ms has passed. It did not obey") {
			t.Error(text)
		}
	}
}
