package work

import (
	"context"
	"fmt"
	"testing"
)

// TestTasksStartWhileAStrangerHoldsTheLockOfSleep: the leader stays awake and finds tasks by scans.
func TestTasksStartWhileAStrangerHoldsTheLockOfSleep(t *testing.T) {
	t.Parallel()
	for way := range someOf(ways) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := owned(t, deaf)
			s.serve()
			s.settled()
			s.drain()
			s.hold(s.role(), way, fmt.Sprint(s.waking().Lock))
			s.serve()
			for range 3 {
				s.serves()
			}
		})
	}
}

// TestTasksStartAfterAStrangerTookTheLockOfSleep: the stranger takes it when the leader wakes.
func TestTasksStartAfterAStrangerTookTheLockOfSleep(t *testing.T) {
	t.Parallel()
	s := owned(t, deaf)
	s.serve()
	s.settled()
	s.asleep()
	conn, held, number := s.connectAs(s.role()), make(chan error, 1), s.waking().Lock
	go func() {
		_, err := conn.Exec(context.WithoutCancel(t.Context()), "SELECT pg_advisory_lock($1)", number)
		held <- err
	}()
	s.eventually("1", "SELECT count(*) FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND NOT granted", conn.PgConn().PID())
	s.serves()
	s.until("awake", func() bool {
		for range manyTasks {
			s.exec("INSERT INTO task (input, max) VALUES ('', 9)")
		}
		return len(held) == 1
	})
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	s.soon()
	s.serves()
}
