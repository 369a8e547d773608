package work

import (
	"strings"
	"testing"
)

// TestASeriesWhoseRetryIsSupersededGoesOn: as the one that waits with its key if that repeats itself, else as a row that keeps it for somebody to set to PLAN.
func TestASeriesWhoseRetryIsSupersededGoesOn(t *testing.T) {
	t.Parallel()
	for name, repeat := range map[string]string{"by a one-shot": "0", "by another definition": "2 hours"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			id := s.add("input, key, retry, repeat", "SELECT pg_sleep(0.3); SELECT 1/0", "job", 1, "1 hour")
			s.becomes(id, "WORK")
			other := s.add("input, key, plan, repeat", "SELECT 1", "job", "infinity", repeat)
			s.becomes(id, "GONE")
			if repeat != "0" {
				if next := s.get("SELECT next = $2 FROM task WHERE id = $1", id, other); next != "true" {
					t.Error(s.row(id, "*"))
				}
				return
			}
			kept := s.row(id, "(SELECT concat(n.state, ' ', n.repeat, ' ', n.parent = task.id, ' ', n.error) FROM task AS n WHERE n.id = task.next) AS next")
			if !strings.Contains(kept, "GONE 01:00:00 t ERROR:  superseded by task") {
				t.Error(kept)
			}
			s.exec("DELETE FROM task WHERE id = $1", other)
			s.exec("UPDATE task SET state = 'PLAN', plan = now(), input = 'SELECT 2' WHERE id = (SELECT next FROM task WHERE id = $1)", id)
			s.eventually("2", "SELECT output FROM task WHERE id = (SELECT next FROM task WHERE id = $1)", id)
		})
	}
}
