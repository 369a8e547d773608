package after

import (
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/change"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
	"pgtaskd/work/target"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// stage is a table that nobody serves, with its successors.
type stage struct {
	tasktest.Table
	successors *Successors
	free       []int64 // tasks that may start, in the order in which they were reported
}

func staged(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	s, holds := &stage{Table: tasktest.Public(t, servertest.Connect(t, dsn))}, hold.NewHolds()
	c, served := controltest.Open(t, dsn)
	s.successors = &Successors{
		Control: c, Holds: holds, Changes: change.New(change.Config{
			Control: c, Holds: holds, Log: target.NewLog(zerolog.Nop(), nil), Table: served.Relation(),
			Ended: func([]change.Changed) {},
		}),
		Ready: func() int { return 0 },
		Free:  func(_, _ []byte, successor lane.Rank) { s.free = append(s.free, successor.ID) },
	}
	s.successors.Clear()
	return s
}

// steps calls Step until nothing is left to do now.
func (s *stage) steps() {
	s.T.Helper()
	for first := true; first || s.successors.Next() <= 0; first = false {
		if err := s.successors.Step(s.T.Context()); err != nil {
			s.T.Fatal(err)
		}
	}
}
