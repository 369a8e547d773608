//go:build slow

package model

import "testing"

// thorough: check large cases, too.
const thorough = true

// TestProtocolHoldsInLargeCases takes them one at a time: the largest needs 4 GB of memory.
func TestProtocolHoldsInLargeCases(t *testing.T) {
	for _, w := range append(largeCases, largeRemoteCases...) {
		t.Run(w.String(), w.mustHold)
	}
}

var (
	twoLanes        = []task{{kind: writes}, {kind: writes, lane: 1}}
	followingRemote = []task{{kind: remote}, {kind: writes, lane: 1, after: 1}}
)

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
