package read

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/change"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// stage is a table that nobody serves, with a Scan and a Prefetch. 8 tasks may run at a time.
type stage struct {
	tasktest.Table
	dsn      string
	scan     *Scan
	prefetch *Prefetch
}

func staged(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	c, served := controltest.Open(t, dsn)
	s := &stage{Table: tasktest.Public(t, servertest.Connect(t, dsn)), dsn: dsn, scan: unserved()}
	s.scan.Control = c
	s.scan.Changes = change.New(change.Config{
		Control: c, Holds: s.scan.Holds, Log: target.NewLog(zerolog.Nop(), nil), Table: served.Relation(),
		Ours: s.scan.Tasks, Ended: func([]change.Changed) {},
	})
	notices := &wake.Notices{}
	s.scan.Wake = wake.New(wake.Config{Control: c, Notices: notices})
	s.scan.Groups = &Groups{
		Control: c, Table: served.Relation(), Lanes: s.scan.Lanes, Clock: s.scan.Clock, Wake: s.scan.Wake,
		Live: s.scan.Live, Scan: s.scan, Changed: func() {},
	}
	s.scan.Expire.Changes, s.scan.Expire.Groups = s.scan.Changes, s.scan.Groups
	s.prefetch = &Prefetch{
		Rows: change.Rows{
			Control: c, Changes: s.scan.Changes, Holds: s.scan.Holds, Tries: hold.NewTries(), Tasks: s.scan.Tasks,
		},
		Target: served, Runs: run.New(run.Config{Lanes: s.scan.Lanes, Clock: s.scan.Clock}), Groups: s.scan.Groups, Scan: s.scan, Notices: notices,
		Clogged:   func() bool { return false },
		Startable: func(_ context.Context, tasks []*run.Task) ([]*run.Task, error) { return tasks, nil },
		Epoch:     func(context.Context, int64) {},
	}
	return s
}

// unserved returns a Scan without a server.
func unserved() *Scan {
	clock := &run.Clock{}
	clock.Set(time.Now(), time.Now(), time.Now())
	live := &atomic.Pointer[target.Live]{}
	live.Store(&target.Live{Sleep: time.Hour})
	return &Scan{
		Changes: change.New(change.Config{}), Live: live, Reset: time.Hour,
		Holds: hold.NewHolds(), Tasks: inflight.Tasks{}, Lanes: lane.New[*run.Task](8, FreshFor, clock.Now), Clock: clock,
		Wake: wake.New(wake.Config{Notices: &wake.Notices{}}), Expire: &Expire{Stats: target.NewStats()},
		Alone: func(context.Context) (bool, error) { return false, nil },
		Ask:   func(*pgx.Batch, bool) {}, Columns: func(*pgx.Batch) {}, Asked: func(context.Context, bool) error { return nil },
		Adopt: func(int64, lane.Key) {},
	}
}

// does calls a function that must not fail.
func (s *stage) does(what func(context.Context) error) {
	s.T.Helper()
	if err := what(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// lock locks all rows in a transaction of its own.
func (s *stage) lock() (release func()) {
	s.T.Helper()
	other := servertest.Connect(s.T, s.dsn)
	servertest.Exec(s.T, other, "BEGIN; SELECT FROM task FOR UPDATE")
	return func() { servertest.Exec(s.T, other, "ROLLBACK") }
}

// giveUp gives up all overdue tasks, and returns their number.
func (s *stage) giveUp() (tried int) {
	s.T.Helper()
	for tried = s.scan.Expire.Len(); s.scan.Expire.Len() > 0; {
		s.does(s.scan.Expire.Step)
	}
	return tried
}
