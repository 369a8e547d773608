package model

import (
	"testing"
	"time"
)

var (
	oneWriting = []task{{writes, 0}}
	oneReading = []task{{reads, 0}}
	oneOnce    = []task{{once, 0}}
	twoWriting = []task{{writes, 0}, {writes, 0}}
	twoReading = []task{{reads, 0}, {reads, 0}}
	twoLanes   = []task{{writes, 0}, {writes, 1}}

	writingReading = []task{{writes, 0}, {reads, 0}}
)

// TestProtocolHolds visits all states of small cases.
func TestProtocolHolds(t *testing.T) {
	for _, c := range cases {
		if c.large && !thorough {
			continue
		}
		t.Run(c.world.String(), func(t *testing.T) {
			t.Parallel()
			if found, why := c.world.search(t); found != unbroken {
				t.Errorf("%s:%s", propertyNames[found], why)
			}
		})
	}
}

// search says which property a case breaks, and the shortest way there.
func (w world) search(t *testing.T) (property, string) {
	began := time.Now()
	f := w.explore()
	at, found := f.broken, everyRunEnds
	if at >= 0 {
		found = w.check(&f.states[at])
	} else if at = f.stuck(); at < 0 {
		found = unbroken
	}
	t.Logf("%d states, %v", len(f.states), time.Since(began).Round(time.Millisecond))
	return found, f.trace(at)
}

// The large cases are checked under the build tag slow.
var cases = []struct {
	large bool
	world world
}{
	{false, world{tasks: oneWriting, mishaps: all, faults: 1, users: 1}},
	{false, world{tasks: oneReading, mishaps: all, faults: 1, users: 1}},
	{false, world{tasks: oneOnce, mishaps: all, faults: 1, users: 1}},
	{false, world{tasks: twoWriting, mishaps: all, faults: 1}},
	{false, world{tasks: twoLanes, mishaps: freeze, faults: 1}},
	{false, world{tasks: writingReading, mishaps: crash, faults: 1}},
	{false, world{tasks: writingReading, mishaps: drain, users: 1}},
	{true, world{tasks: twoLanes, mishaps: all, faults: 1}},
	{true, world{tasks: writingReading, mishaps: all, faults: 1, users: 1}},
	{true, world{tasks: oneWriting, mishaps: all, faults: 2, users: 1}},
	{true, world{tasks: oneReading, mishaps: all, faults: 2, users: 1}},
	{true, world{tasks: oneOnce, mishaps: all, faults: 2, users: 1}},
	{true, world{tasks: oneWriting, mishaps: all, faults: 1, users: 2}},
	{true, world{tasks: oneReading, mishaps: all, faults: 1, users: 2}},
	{true, world{tasks: oneOnce, mishaps: all, faults: 1, users: 2}},
	{true, world{tasks: twoWriting, mishaps: all, faults: 1, users: 1}},
	{true, world{tasks: []task{{writes, 0}, {writes, 0}, {writes, 0}}, mishaps: all, faults: 1}},
}
