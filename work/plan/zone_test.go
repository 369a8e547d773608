package plan

import (
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/target"
)

// TestZoneOfASessionThatOutlastsATerm: the session's zone follows the role's zone.
func TestZoneOfASessionThatOutlastsATerm(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	becomes := func(name string) {
		t.Helper()
		servertest.Exec(t, conn, "ALTER DATABASE "+conn.Config().Database+" SET timezone = '"+name+"'")
	}
	becomes("Europe/Berlin")
	c, served := controltest.Open(t, dsn)
	p := &Planner{Control: c, Target: served, Log: target.NewLog(zerolog.Nop(), nil)}
	for epoch, name := range []string{"Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"} {
		p.Begin() // the connection is the same in each term
		becomes(name)
		p.Refresh(t.Context(), int64(epoch+1))
		if got := servertest.Get(t, c.Conn(), "SELECT current_setting('TimeZone')"); got != name {
			t.Errorf("the session is in %s, the role in %s", got, name)
		}
	}
}
