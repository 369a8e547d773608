package pool

import (
	"context"
	"testing"

	"pgtaskd/exec"
)

// TestRoomSparesBoundSessions: the session of a lane makes room only if no common session can.
func TestRoomSparesBoundSessions(t *testing.T) {
	t.Parallel()
	p := New(Config{})
	bound := &Session{Session: &exec.Session{PID: 1}, Bound: true}
	holds := &Session{Session: &exec.Session{PID: 2}, Holds: true}
	common := &Session{Session: &exec.Session{PID: 3}}
	for _, s := range []*Session{bound, holds, common} {
		if p.room(3) != nil {
			t.Fatal("there was room")
		}
		p.Put(s)
	}
	for _, want := range []*Session{common, bound, holds, nil} {
		if got := p.room(3); got != want {
			t.Errorf("made room by %+v, want %+v", got, want)
		}
	}
}

// TestRemotesNameNoBackends: a process id that a remote reports does not change those of the
// target's own sessions.
func TestRemotesNameNoBackends(t *testing.T) {
	t.Parallel()
	p := New(Config{Enrol: func(context.Context, Backend, int32) error { return nil }})
	own, elsewhere := &Session{Session: &exec.Session{PID: 7}}, &Session{Session: &exec.Session{PID: 7}, Need: Need{Remote: "host=elsewhere"}}
	if err := p.Register(t.Context(), Backend{PID: 7}, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if p.room(3) != nil {
			t.Fatal("there was room")
		}
		p.Gone(elsewhere)
		if pids := p.PIDs(); len(pids) != 1 || pids[0] != 7 {
			t.Errorf("backends %v", pids)
		}
	}
	p.Gone(own)
	if pids := p.PIDs(); len(pids) != 0 {
		t.Errorf("backends %v", pids)
	}
}
