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
	twoLanes   = []task{{kind: writes}, {kind: writes, lane: 1}}
	following  = []task{{kind: writes}, {kind: writes, lane: 1, after: 1}}

	writingReading  = []task{{kind: writes}, {kind: reads}}
	followingRemote = []task{{kind: remote}, {kind: writes, lane: 1, after: 1}}
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

// TestProtocolHoldsInLargeCases is for the build tag slow. One case at a time: the largest takes
// four gigabytes of memory.
func TestProtocolHoldsInLargeCases(t *testing.T) {
	if !thorough {
		t.Skip("takes minutes: make thorough")
	}
	for _, w := range append(largeCases, largeRemoteCases...) {
		t.Run(w.String(), w.mustHold)
	}
}

func (w world) mustHold(t *testing.T) {
	if found, why := w.search(t); found != unbroken {
		t.Errorf("%s:%s", propertyNames[found], why)
	}
}

// search says which property a case breaks, and the shortest way there.
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

var largeCases = []world{
	{tasks: following, mishaps: all, faults: 1},
	{tasks: twoLanes, mishaps: cut, faults: 1},
	{tasks: oneWriting, mishaps: all, faults: 2},
	{tasks: oneOnce, mishaps: all, faults: 2, users: 1},
	{tasks: oneOnce, mishaps: all, faults: 1, users: 2},
	{tasks: oneReading, mishaps: all, faults: 2, users: 1},
	{tasks: writingReading, mishaps: all, faults: 1},
	{tasks: twoWriting, mishaps: all, faults: 1},
	{tasks: oneWriting, mishaps: all, faults: 1, users: 2},
	{tasks: oneWriting, mishaps: crash | freeze | edit, faults: 2, users: 1},
	{tasks: following, mishaps: crash | freeze | kill | edit, faults: 1, users: 1},
}

var largeRemoteCases = []world{
	{tasks: oneRemote, mishaps: all | farCrash | farDown, faults: 1, users: 2},
	{tasks: oneRemote, mishaps: all | farCrash | farDown, faults: 2, users: 1},
	{tasks: oneRemote, mishaps: failover | freeze | edit | stranger, faults: 2, users: 1},
	{tasks: followingRemote, mishaps: freeze | edit | farDown, faults: 1, users: 1},
}
