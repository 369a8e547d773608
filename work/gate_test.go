package work

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answerless is the address of a server that takes connections and never answers, and the number of those that it has at the moment, and has had at most.
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

// TestARemoteThatDoesNotAnswerKeepsNoOtherTaskWaiting, however many tasks it is to run: one connection at a time tries it, and takes no place in run.
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
		if took := time.Since(began); took > 2*time.Second {
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
		if took := time.Since(began); took > 2*time.Second {
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

// TestOneTaskTriesAGate, outside of run, and lets the others pass.
func TestOneTaskTriesAGate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newLanes(1, func() time.Time { return now })
	fits := func(*task) bool { return true }
	fetched := func() (tasks []*task) {
		for _, id := range s.choose(100) {
			lane := laneKey{fmt.Sprint(id % 3), "away"}
			if id < 100 {
				lane = laneKey{fmt.Sprint(id), ""}
			}
			tasks = append(tasks, &task{read: time.Now(), lane: lane, rank: rank{id: id}, row: row{ID: id}})
		}
		s.take(tasks)
		return tasks
	}
	for id := int64(101); id < 110; id++ {
		s.add([]byte(fmt.Sprint(id%3)), []byte("away"), rank{id: id})
	}
	if tasks := fetched(); len(tasks) != 1 {
		t.Fatalf("fetched %d tasks to try", len(tasks))
	}
	try := s.tryout(fits)
	if try == nil || len(fetched()) > 0 || s.tryout(fits) != nil {
		t.Fatal("a second one tries as well, or none does")
	}
	s.add([]byte("1"), nil, rank{id: 1})
	fetched()
	local := s.start(fits)
	if local == nil {
		t.Fatal("the try has the only place")
	}
	s.shut(try, now.Add(time.Second))
	s.ended(try, time.Time{})
	if len(fetched()) > 0 {
		t.Error("it is tried again at once")
	}
	if at, pauses := s.wake(); !pauses || !at.Equal(now.Add(time.Second)) {
		t.Errorf("it is tried again at %v %v", at, pauses)
	}
	now = now.Add(time.Second)
	if len(fetched()) != 1 {
		t.Fatal("it is not tried again")
	}
	try = s.tryout(fits)
	s.opened(try)
	if busy, _, _ := s.load(); busy != 2 {
		t.Error(busy, "places are taken")
	}
}

// TestAGateRemembersWhenToBeTried, however long the name of its remote is, and is forgotten after that.
func TestAGateRemembersWhenToBeTried(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{"away", strings.Repeat("far ", 100)} {
		now := time.Now()
		s := newLanes(2, func() time.Time { return now })
		fetched := func(id int64) (tasks []*task) {
			s.add([]byte("g"), []byte(remote), rank{id: id})
			for _, id := range s.choose(100) {
				tasks = append(tasks, &task{read: time.Now(), lane: laneOf("g", remote), rank: rank{id: id}, row: row{ID: id, Group: "g", Remote: remote}})
			}
			s.take(tasks)
			return tasks
		}
		fetched(1)
		try := s.tryout(func(*task) bool { return true })
		s.shut(try, now.Add(time.Second))
		s.ended(try, time.Time{})
		s.pace(0)
		if len(fetched(2)) > 0 {
			t.Errorf("%.10s is tried again at once", remote)
		}
		now = now.Add(time.Second)
		if tasks := fetched(3); len(tasks) != 1 {
			t.Errorf("%.10s: fetched %d tasks", remote, len(tasks))
		}
		s.forget()
		now = now.Add(time.Hour)
		if s.pace(0); len(s.gates)+len(s.crowded)+s.trying > 0 {
			t.Errorf("%.10s: %d gates, %d crowded, %d tried are left", remote, len(s.gates), len(s.crowded), s.trying)
		}
	}
}
