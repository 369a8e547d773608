package work

import (
	"context"
	"fmt"
	"testing"

	"pgtaskd/sql/schema"
)

// TestWhoMayConnectHoldsTheLockOfSleep in whatever way: the leader stays awake and finds tasks by
// itself.
func TestWhoMayConnectHoldsTheLockOfSleep(t *testing.T) {
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

// TestWhoMayConnectTakesTheLockOfSleepFromALeader that wakes: tasks are found all the same.
func TestWhoMayConnectTakesTheLockOfSleepFromALeader(t *testing.T) {
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

// TestATableAboveIsServed: a partition of it is not, until it is no more.
func TestATableAboveIsServed(t *testing.T) {
	t.Parallel()
	s := owned(t)
	role := s.target.Connect["user"]
	s.on(s.conn, "CREATE TABLE whole (id bigserial, plan timestamptz NOT NULL DEFAULT now(), input text NOT NULL) PARTITION BY RANGE (plan); "+
		"CREATE TABLE task PARTITION OF whole FOR VALUES FROM (MINVALUE) TO (MAXVALUE); ALTER TABLE whole OWNER TO "+role+"; ALTER TABLE task OWNER TO "+role)
	whole := s.target
	whole.Table = "whole"
	if _, err := schema.Install(t.Context(), s.connectAs(role), whole.Relation(), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	above := &stage{t: t, dsn: s.dsn, target: whole, conn: s.connect()}
	s.serve()
	s.settled()
	s.serves()
	above.serve()
	above.says("standing by", role)
	s.drain()
	above.settled()
	s.serve()
	s.says("which is served, too", role)
	if above.leads() != 1 || s.leads() != 1 {
		t.Error(above.leads(), s.leads(), "leaders")
	}
}
