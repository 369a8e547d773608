package install

import (
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

// TestATableIsChanged by others only: our own look leaves nothing to notice.
func TestATableIsChanged(t *testing.T) {
	t.Parallel()
	s := stageOn(t, servertest.Database(t))
	changed := func() bool {
		s.Sees(s.seen())
		return s.Changed()
	}
	s.look()
	if changed() {
		t.Error("what was made is a change")
	}
	for _, change := range []string{
		"ALTER TABLE task DROP COLUMN notice", "DROP TRIGGER pgtaskd_update ON task", "DROP TABLE task_leader", "ALTER TABLE task ADD COLUMN mine int",
	} {
		s.exec(change)
		if !changed() {
			t.Errorf("nobody notices %q", change)
		}
		s.look()
		if changed() {
			t.Errorf("what was made again is a change, after %q", change)
		}
	}
	if s.postponed = time.Now().Add(-postponement); !s.Changed() {
		t.Error("what was postponed is not tried again")
	}
}

// TestATableThatIsDroppedIsNotMadeAgain if it was seen just now, or was served.
func TestATableThatIsDroppedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := stageOn(t, servertest.Database(t))
	s.look()
	for _, c := range []struct {
		described string
		served    bool
	}{{s.described, false}, {"", true}} {
		s.exec("DROP TABLE IF EXISTS task")
		s.described, s.served = c.described, c.served
		if _, err := s.furnish(t.Context(), ""); err == nil || err.Error() != gone(s.Target).Error() {
			t.Errorf("%+v: %v", c, err)
		}
		if servertest.Get(t, s.conn, "SELECT to_regclass('task')") != servertest.Null {
			t.Errorf("%+v: it is made again", c)
		}
	}
}

// TestRestartIsAdvised only if a restart creates the table.
func TestRestartIsAdvised(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{true, false} {
		if text := gone(target.Target{Create: create}).Error(); strings.Contains(text, "or restart pgtaskd, which creates it") != create {
			t.Error(text)
		}
	}
}
