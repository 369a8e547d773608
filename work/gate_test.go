package work

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// answerless is the address of a server that takes connections and never answers, and the number of
// those that it has at the moment, and has had at most.
func answerless(t *testing.T) (port int, most *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Int32
	most = &atomic.Int32{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			go func() {
				defer now.Add(-1)
				defer func() { _ = conn.Close() }()
				buffer := make([]byte, 100)
				for err == nil {
					_, err = conn.Read(buffer)
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	return listener.Addr().(*net.TCPAddr).Port, most
}

// TestARemoteThatDoesNotAnswerKeepsNoOtherTaskWaiting, however many tasks it is to run: one
// connection at a time tries it, and takes no place in run.
func TestARemoteThatDoesNotAnswerKeepsNoOtherTaskWaiting(t *testing.T) {
	t.Parallel()
	port, most := answerless(t)
	s := play(t, func(t *Target) { t.Run = 2 })
	s.exec(`INSERT INTO task ("group", max, remote, input) SELECT 'g' || i % 50, 1000, $1, 'SELECT 1' FROM generate_series(1, 500) AS i`,
		fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=x sslmode=disable", port))
	s.until("the remote to be tried", func() bool { return most.Load() > 0 })
	for i := range 20 {
		began := time.Now()
		s.becomes(s.add(`"group", input`, fmt.Sprint("local", i), "SELECT 1"), "DONE")
		if took := time.Since(began); took > servertest.Limit(2*time.Second) {
			t.Errorf("a task of another lane took %s", took)
		}
	}
	if n := most.Load(); n > 1 {
		t.Errorf("%d connections tried at once", n)
	}
	if states := s.get("SELECT count(*) FROM task WHERE remote IS NOT NULL AND state <> 'PLAN'"); states != "0" {
		t.Error(states, "of the remote have ended")
	}
}

// TestRemotesThatDoNotAnswerAreTriedByAsManyAsRun: a table can name any number of them.
func TestRemotesThatDoNotAnswerAreTriedByAsManyAsRun(t *testing.T) {
	t.Parallel()
	port, most := answerless(t)
	s := play(t, func(t *Target) { t.Run = 2 })
	s.exec(`INSERT INTO task ("group", remote, input) SELECT 'g' || i, $1 || i, 'SELECT 1' FROM generate_series(1, 300) AS i`,
		fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=x sslmode=disable application_name=%s", port, strings.Repeat("long", 40)))
	s.until("two of them to be tried", func() bool { return most.Load() > 1 })
	for i := range 20 {
		began := time.Now()
		s.becomes(s.add(`"group", input`, fmt.Sprint("local", i), "SELECT 1"), "DONE")
		if took := time.Since(began); took > servertest.Limit(2*time.Second) {
			t.Errorf("a task of another lane took %s", took)
		}
	}
	if n := most.Load(); n > 2 {
		t.Errorf("%d connections tried at once", n)
	}
}

// TestRemoteTasksStartOnceTheirServerAnswers: the first opens the way for the others.
func TestRemoteTasksStartOnceTheirServerAnswers(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 4 })
	s.exec(`INSERT INTO task ("group", max, remote, input) SELECT 'g' || i % 50, 1, 'application_name=here', 'SELECT 1' FROM generate_series(1, 500) AS i`)
	s.eventually("500", "SELECT count(*) FROM task WHERE state = 'DONE'")
}

// TestTasksOfManyRemotesAreNoMoreThanRun: to have tried its remote gives a task no place.
func TestTasksOfManyRemotesAreNoMoreThanRun(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 2 })
	s.exec(`INSERT INTO task ("group", remote, input, delete) SELECT 'g' || i, 'application_name=a' || i, 'SELECT pg_sleep(0.05)', false FROM generate_series(1, 40) AS i`)
	s.eventually("40", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if most := s.get("SELECT max((SELECT count(*) FROM task AS o WHERE o.start <= t.start AND o.stop > t.start)) FROM task AS t"); most != "2" {
		t.Error(most, "ran at once")
	}
}
