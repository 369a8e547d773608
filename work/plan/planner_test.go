package plan

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/change"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestPlanningGoesOnWhereItsTimeEnded: plans that were computed in time are written.
func TestPlanningGoesOnWhereItsTimeEnded(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn, holds, log := servertest.Connect(t, dsn), hold.NewHolds(), target.NewLog(zerolog.Nop(), nil)
	c, served := controltest.Open(t, dsn)
	p := &Planner{
		Control: c, Holds: holds, Target: served, Log: log,
		Changes: change.New(change.Config{Control: c, Holds: holds, Log: log, Table: served.Relation(), Ended: func([]change.Changed) {}}),
	}
	p.Clear()
	if err := c.SetTimeZone(t.Context(), "Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	servertest.Exec(t, conn, "INSERT INTO task (input, cron) SELECT '', '@daily' FROM generate_series(1, 3)")
	for planned := range 3 {
		batch := &pgx.Batch{}
		p.Queue(batch)
		if err := c.Send(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if n, err := p.plan(t.Context(), 0); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if got := servertest.Get(t, conn, "SELECT count(*) FROM task WHERE origin IS NULL AND plan > now()"); got != fmt.Sprint(planned+1) {
			t.Errorf("after %d rounds %s are planned", planned+1, got)
		}
		p.from = p.unplanned[0].id + 1
	}
}
