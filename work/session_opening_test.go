package work

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
)

// unopened returns a remote that accepts connections and stays silent, and these connections.
func unopened(t *testing.T) (dsn string, all <-chan net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns, ended := make(chan net.Conn, 100), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "host=127.0.0.1 sslmode=disable user=any password=any dbname=any port=" + port, conns
}

// soon is well below the time that connecting may take.
const soon = remote.ConnectLimit / 2

// hungUp waits until the client gives up a connection.
func (s *stage) hungUp(conn net.Conn) {
	s.t.Helper()
	_ = conn.SetDeadline(time.Now().Add(servertest.Limit(soon)))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Error("the connection is still being opened")
	}
	_ = conn.Close()
}

// TestDrainGivesUpWhatIsNotOpen: a task whose session is still being opened has not begun. The
// drain does not wait for it, however long the grace period is.
func TestDrainGivesUpWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Grace = time.Hour })
	dsn, all := unopened(t)
	id := s.add("input, remote, rerun", "SELECT 1", dsn, false)
	conn := <-all
	defer func() { _ = conn.Close() }()
	began := time.Now()
	s.drain()
	if took := time.Since(began); took > servertest.Limit(soon) {
		t.Error("it took", took)
	}
	if row := s.row(id, "state, attempt, error, runs, base"); row != `{"state":"PLAN","attempt":0,"error":null,"runs":null,"base":null}` {
		t.Error(row)
	}
}

// TestStopOfWhatIsNotOpen: the connection is given up at once, and the slot is free again.
func TestStopOfWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('one', 1)`)
	for _, statement := range []string{"UPDATE task SET state = 'STOP'", "DELETE FROM task"} {
		dsn, all := unopened(t)
		id := s.add(`input, remote, "group"`, "SELECT 1", dsn, "one")
		conn := <-all
		behind := s.add(`input, "group"`, "SELECT 2", "one")
		s.exec(statement+" WHERE id = $1", id)
		s.hungUp(conn)
		s.becomes(behind, "DONE")
		if rest := s.get("SELECT coalesce((SELECT concat_ws(' ', state, attempt, error) FROM task WHERE id = $1), '')", id); rest != "" && rest != "STOP 0" {
			t.Error(rest)
		}
	}
	s.others()
}
