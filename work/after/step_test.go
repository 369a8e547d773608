package after

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestSuccessorsAreFreed: a successor is free when its task has ended. The loop reports the first
// end, a survey finds the second.
func TestSuccessorsAreFreed(t *testing.T) {
	t.Parallel()
	s := staged(t)
	const ends = "UPDATE task SET state = 'DONE', stop = now() WHERE id = $1"
	s.Exec("SET session_replication_role = replica") // no trigger tells anybody
	first, second := s.Add("input, plan", "SELECT 1", "infinity"), s.Add("input, plan", "SELECT 1", "infinity")
	one := s.Add("input, after", "SELECT 1", []int64{first})
	both := s.Add("input, after", "SELECT 1", []int64{first, second})
	for _, id := range []int64{one, both} {
		s.successors.Add(id)
	}
	frees := func(want ...int64) {
		t.Helper()
		s.steps()
		if fmt.Sprint(s.free) != fmt.Sprint(want) {
			t.Errorf("free are %v, not %v", s.free, want)
		}
	}
	frees()
	s.Exec(ends, first)
	s.successors.Over(first)
	frees(one)
	s.Exec(ends, second)
	s.successors.Clear() // another term, which begins with a scan
	batch := &pgx.Batch{}
	s.successors.QueueAny(batch)
	if err := s.successors.Control.Send(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	frees(one, both)
	if len(s.successors.awaited) > 0 {
		t.Error("known to be waited for are still ", s.successors.awaited)
	}
}
