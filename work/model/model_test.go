package model

import (
	"testing"
	"time"
)

var (
	oneWriting = []task{{kind: writes}}
	oneReading = []task{{kind: reads}}
	oneOnce    = []task{{kind: once}}
	oneRemote  = []task{{kind: remote}}
	twoWriting = []task{{kind: writes}, {kind: writes}}
	twoReading = []task{{kind: reads}, {kind: reads}}
	following  = []task{{kind: writes}, {kind: writes, lane: 1, after: 1}}

	writingReading = []task{{kind: writes}, {kind: reads}}
)

// TestProtocolHolds visits all states of small cases.
func TestProtocolHolds(t *testing.T) {
	for _, w := range append(cases, remoteCases...) {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			w.mustHold(t)
		})
	}
}

func (w world) mustHold(t *testing.T) {
	if found, why := w.search(t); found != unbroken {
		t.Errorf("%s:%s", propertyNames[found], why)
	}
}

// search returns the property that a case breaks, and the shortest way there.
func (w world) search(t *testing.T) (property, string) {
	began := time.Now()
	f := w.explore()
	at, found := f.broken, everyRunEnds
	if at >= 0 {
		found = w.check(f.state(at))
	} else if at = f.stuck(); at < 0 {
		found = unbroken
	}
	t.Logf("%d states, %v", f.count(), time.Since(began).Round(time.Millisecond))
	return found, f.trace(at)
}

var cases = []world{
	{tasks: oneWriting, mishaps: all, faults: 1, users: 1},
	{tasks: oneReading, mishaps: all, faults: 1, users: 1},
	{tasks: oneOnce, mishaps: all, faults: 1, users: 1},
	{tasks: following, mishaps: edit, users: 1},
	{tasks: following, mishaps: freeze, faults: 1},
	{tasks: twoWriting, mishaps: drain, users: 1},
	{tasks: writingReading, mishaps: drain, users: 1},
}

var remoteCases = []world{
	{tasks: oneRemote, mishaps: all | farCrash | farDown, faults: 1, users: 1},
	{tasks: oneRemote, mishaps: failover | stranger, faults: 1, users: 1},
}
