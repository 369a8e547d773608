//go:build slow

package work

import (
	"fmt"
	"sync/atomic"
	"testing"

	"pgtaskd/work/run"
)

// TestFewRefusedEndsWait: of many whose repetitions the table refuses some hundred wait for their
// turn. The others go back to PLAN, say why, and end well when the table refuses them no more.
func TestFewRefusedEndsWait(t *testing.T) {
	t.Parallel()
	const many = 800
	for input, end := range map[string]string{"SELECT 1": "DONE", "SELECT 1/0": "FAIL"} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			var most atomic.Int64
			s := leadAs(t, func(l *loop) {
				before := l.reads
				l.reads = func(tasks []*run.Task) {
					before(tasks)
					most.Store(max(most.Load(), int64(len(l.aside.ends))))
				}
			})
			s.exec("ALTER TABLE task ADD mine text CONSTRAINT mine UNIQUE")
			s.exec(fmt.Sprintf(`INSERT INTO task (mine, input, repeat, "delete", "group", max) SELECT i, $1, '1 day', false, 'odd', 100 FROM generate_series(1, %d) AS i`, many), input)
			s.eventually("true", `SELECT count(*) > 50 FROM task WHERE "group" = 'odd' AND state = 'PLAN' AND error IS NOT NULL`)
			s.becomes(s.add(`input, repeat, "group"`, "SELECT 1", "1 day", "other"), "DONE")
			if n := most.Load(); n > queuedMost+batchMost/4 {
				t.Errorf("%d ends have waited", n)
			}
			s.exec("ALTER TABLE task DROP CONSTRAINT mine")
			s.until("all have ended", func() bool {
				s.exec(`UPDATE task SET plan = now() WHERE "group" = 'odd' AND parent IS NULL AND state = 'PLAN' AND plan > now()`)
				return s.get(`SELECT count(*) FROM task WHERE "group" = 'odd' AND parent IS NULL AND stop IS NULL`) == "0"
			})
			wrong := `SELECT count(*) FROM task AS t WHERE "group" = 'odd' AND parent IS NULL AND (state <> $1 OR (SELECT count(*) FROM task AS n WHERE n.parent = t.id) <> 1) AND coalesce(error, '') NOT LIKE '%duplicate%'`
			if n := s.get(wrong, end); n != "0" {
				t.Error("ended otherwise: ", n)
			}
		})
	}
}
