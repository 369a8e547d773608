//go:build slow

package work

import (
	"fmt"
	"testing"
)

// TestLargeOutputsAreWrittenWholeAndOnce: a large output after many small ones of similar tasks is
// written whole and once, here and on a remote.
func TestLargeOutputsAreWrittenWholeAndOnce(t *testing.T) {
	t.Parallel()
	for name, columns := range someOf(map[string]string{"here": "NULL", "elsewhere": "'here'"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(target *Target) { target.Remotes = map[string]string{"here": target.Connect.String()} })
			s.exec(`INSERT INTO task (input, "group", remote, data, delete)
				SELECT 'SELECT repeat(''x'', current_setting(''pg_task.data'')::int)', n % 3, ` + columns + `, CASE WHEN n <= 300 THEN 10 WHEN n % 7 = 0 THEN 300000 ELSE 20 END, false
				FROM generate_series(1, 600) AS n`)
			s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
			s.eventually("600", "SELECT count(*) FROM task WHERE state = 'DONE' AND length(output) = data::int AND interrupted = 0 AND attempt = 1")
			s.others()
		})
	}
}

// TestALargeEndOfALockedRowKeepsNoSlot: some large ends may wait for their locked rows without a
// slot, so other tasks run.
func TestALargeEndOfALockedRowKeepsNoSlot(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 4 })
	begin := func(n int, size string) (release func()) {
		var ids []int64
		var held []func()
		s.exec("SELECT pg_advisory_lock(1)")
		for i := range n {
			ids = append(ids, s.add(`input, "group"`, "SELECT pg_advisory_xact_lock_shared(1); SELECT repeat('x', "+size+")", fmt.Sprint(size, i)))
		}
		for _, id := range ids {
			s.becomes(id, "WORK")
			held = append(held, s.lock(id, "FOR UPDATE"))
		}
		s.exec("SELECT pg_advisory_unlock(1)")
		s.quiet()
		return func() {
			for _, release := range held {
				release()
			}
			for _, id := range ids {
				s.becomes(id, "DONE")
			}
		}
	}
	release := begin(4, "100000")
	s.others()
	release()
	release = begin(4, "8000000")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	release()
	s.others()
}
