package work

import (
	"context"
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

// TestNoSessionsWithoutLead: who stands by again keeps no session when what still ran there has ended.
func TestNoSessionsWithoutLead(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	key := s.get("SELECT (classid::int8 << 32 | objid::int8)::text FROM pg_locks JOIN pg_database AS d ON d.oid = database WHERE locktype = 'advisory' AND datname = current_database()")
	other, locked := s.connect(), make(chan error, 1)
	go func() {
		_, err := other.Exec(context.WithoutCancel(t.Context()), "SELECT pg_advisory_lock($1::text::int8)", key)
		locked <- err
	}()
	s.eventually("1", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = $1", other.PgConn().PID())
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND (classid::int8 << 32 | objid::int8)::text = $1", key)
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	s.eventually("0", `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\_task %'`)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_unlock($1::text::int8)", key); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, "DONE")
}
