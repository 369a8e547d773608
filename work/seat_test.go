package work

import (
	"testing"

	"pgtask/exec"
)

// TestRoomSparesBoundSeats: the session of a lane makes room for another only if no common one can.
func TestRoomSparesBoundSeats(t *testing.T) {
	t.Parallel()
	p := &seats{pids: map[uint32]struct{}{}}
	bound := &seat{session: &exec.Session{PID: 1}, bound: true}
	holds := &seat{session: &exec.Session{PID: 2}, holds: true}
	common := &seat{session: &exec.Session{PID: 3}}
	for _, s := range []*seat{bound, holds, common} {
		if p.room(3) != nil {
			t.Fatal("there was room")
		}
		p.opened(s.session.PID)
		p.put(s)
	}
	for _, want := range []*seat{common, bound, holds, nil} {
		if got := p.room(3); got != want {
			t.Errorf("made room by %+v, want %+v", got, want)
		}
	}
}
