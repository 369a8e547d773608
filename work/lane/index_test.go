package lane

import (
	"strings"
	"testing"
	"time"
)

// TestIndexFindsLanes by key and by name, also by long names. The index drops an empty lane once no
// task needs its pause any more.
func TestIndexFindsLanes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	x := &d.index
	names := []string{"", "a", "b", strings.Repeat("a", nameMost), strings.Repeat("a", nameMost+1), strings.Repeat("a", nameMost+2)}
	lanes := map[*lane[*item]]bool{}
	for _, group := range names {
		for _, remote := range names {
			l := x.of(KeyOf(group, remote))
			if x.named([]byte(group), []byte(remote)) != l {
				t.Errorf("%.10q %.10q is found by its key alone", group, remote)
			}
			if (l.gate != nil) != (remote != "") || l.gate != x.gates.of(l.key.remote) {
				t.Errorf("%.10q stands before another gate", remote)
			}
			lanes[l] = true
		}
	}
	if want := len(names) * len(names); len(lanes) != want || len(x.all) != want || len(x.gates.all) != len(names)-1 {
		t.Error(len(lanes), "lanes,", len(x.all), "known,", len(x.gates.all), "gates")
	}
	l := x.named([]byte("a"), nil)
	l.ended, l.pause = d.at, time.Hour
	d.at = d.at.Add(time.Hour)
	if x.prune(l); x.all[l.key] != l {
		t.Error("its pause is forgotten")
	}
	d.at = d.at.Add(1)
	l.running = 1
	if x.prune(l); x.all[l.key] != l {
		t.Error("it is forgotten while a task runs")
	}
	l.running = 0
	if x.prune(l); x.all[l.key] != nil {
		t.Error("it is not forgotten")
	}
}
