//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestManyRefusalsKeepNobodyWaiting: what the table refuses of each of many tasks takes the loop a
// short time at once, and others start, end, and can be stopped in between.
func TestManyRefusalsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	const many = 300
	for name, c := range map[string]struct{ ddl, columns, values string }{
		"repetitions of what is not run in time": {"ALTER TABLE task ADD mine text UNIQUE", "mine, active", "'x' || i, '1 us'"},
		"repetitions in transactions":            {"ALTER TABLE task ADD mine text UNIQUE", "mine", "'x' || i"},
		"repetitions of what fails":              {"ALTER TABLE task ADD mine text UNIQUE", "mine, input", "'x' || i, 'SELECT 1/0'"},
		"repetitions out of range":               {"ALTER TABLE task ADD mine text", "base, repeat", "'9500-01-01', '1000 years'"},
		"ends":                                   {"ALTER TABLE task ADD CHECK (data <> 'odd' OR output IS NULL)", "active", "'1 hour'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec(c.ddl)
			runs := s.add(`input, "group"`, "SELECT pg_sleep(100)", "runs")
			s.becomes(runs, "WORK")
			columns, values := "data, delete, \"group\"", "'odd', false, 'odd'"
			for column, value := range map[string]string{"repeat": "'1 hour'", "input": "'SELECT 1'"} {
				if !strings.Contains(c.columns, column) {
					columns, values = columns+", "+column, values+", "+value
				}
			}
			s.exec(fmt.Sprintf("INSERT INTO task (%s, %s) SELECT %s, %s FROM generate_series(1, %d) AS i", columns, c.columns, values, c.values, many))
			const waiting = "SELECT count(*) FROM task WHERE data = 'odd' AND parent IS NULL AND state IN ('PLAN', 'WORK')"
			var most time.Duration
			for i := 0; s.get(waiting) != "0"; i++ {
				began := time.Now()
				input, end := "SELECT 1", "DONE"
				if i%2 == 1 {
					input, end = "SELECT 1/0", "FAIL"
				}
				s.becomes(s.add(`input, "group", delete`, input, fmt.Sprint("other ", i), false), end)
				if i == 3 {
					s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", runs)
					s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", runs)
				}
				most = max(most, time.Since(began))
			}
			t.Log("others took at most ", most)
			if most > servertest.Limit(1500*time.Millisecond) {
				t.Errorf("others had to wait for %s", most)
			}
		})
	}
}
