//go:build slow

package work

import (
	"strings"
	"testing"
)

// TestRowsThatAForeignKeyKeepsAreLoggedOnce: their tasks have ended well, and the rows stay.
func TestRowsThatAForeignKeyKeepsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE bill (task int8 REFERENCES task)")
	s.exec(`WITH tasks AS (INSERT INTO task (input, plan) SELECT 'SELECT 1 WHERE false', 'infinity' FROM generate_series(1, 20) RETURNING id) INSERT INTO bill SELECT id FROM tasks`)
	s.exec("INSERT INTO bill SELECT id FROM task EXCEPT SELECT task FROM bill; UPDATE task SET plan = now()")
	s.eventually("20", "SELECT count(*) FROM task WHERE state = 'DONE'")
	free := s.add("input", "SELECT 1 WHERE false")
	s.becomes(free, "")
	s.others()
	if n := strings.Count(s.logged(), `"level":"error"`); n != 0 {
		t.Errorf("%d errors", n)
	}
	s.until("one warning", func() bool { return strings.Count(s.logged(), `"level":"warn"`) > 0 })
	if n := strings.Count(s.logged(), `"level":"warn"`); n != 1 {
		t.Errorf("%d warnings", n)
	}
}
