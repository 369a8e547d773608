package model

import (
	"slices"
	"testing"
)

// TestEachRuleIsNeeded leaves out one rule at a time. The check must find what breaks; -v prints
// the shortest way there.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, c := range needed {
		if slices.Contains(large, c.rule) && !thorough {
			continue
		}
		t.Run(ruleNames[c.rule], func(t *testing.T) {
			t.Parallel()
			w := c.world
			w.without[c.rule] = true
			found, why := w.search(t)
			if found != c.breaks {
				t.Errorf("without it: %s, want: %s%s", propertyNames[found], propertyNames[c.breaks], why)
			}
			t.Logf("%s breaks: %s%s", w, propertyNames[found], why)
		})
	}
}

// TestRulesAreListedOnce: each rule is either needed or unneeded.
func TestRulesAreListedOnce(t *testing.T) {
	var times [rules]int
	for _, c := range needed {
		times[c.rule]++
	}
	for _, c := range unneeded {
		times[c.rule]++
	}
	for r, n := range times {
		if n != 1 {
			t.Errorf("%q is listed %d times", ruleNames[r], n)
		}
	}
}

// TestNothingBreaksWithoutTheOthers: the unneeded rules are really not needed here.
func TestNothingBreaksWithoutTheOthers(t *testing.T) {
	for _, c := range unneeded {
		t.Run(ruleNames[c.rule], func(t *testing.T) {
			t.Parallel()
			w := c.world
			if thorough {
				w.mishaps |= all
			}
			w.without[c.rule] = true
			if found, why := w.search(t); found != unbroken {
				t.Errorf("without it: %s:%s", propertyNames[found], why)
			}
		})
	}
}

// Cases that show the use of the rules, each as small as possible.
var (
	edited    = world{tasks: oneWriting, mishaps: edit, users: 1}
	refused   = world{tasks: oneWriting, mishaps: kill, faults: 1}
	stopped   = world{tasks: oneWriting, mishaps: kill | edit, faults: 1, users: 1}
	forgotten = world{tasks: oneWriting, mishaps: crash | edit, faults: 1, users: 1}
	givenOut  = world{tasks: oneWriting, mishaps: crash | stranger, faults: 1, users: 1}
	unplugged = world{tasks: oneWriting, mishaps: cut, faults: 1}
	frozen    = world{tasks: oneWriting, mishaps: freeze, faults: 1}
	pidAgain  = world{tasks: oneWriting, mishaps: freeze | foreign, faults: 1, users: 1}
	givenAway = world{tasks: oneWriting, mishaps: drain, users: 1}

	readEdited    = world{tasks: oneReading, mishaps: edit, users: 1}
	readForgotten = world{tasks: oneReading, mishaps: crash | edit, faults: 1, users: 2}
	readUnplugged = world{tasks: oneReading, mishaps: cut, faults: 1}
	readCutEdited = world{tasks: oneReading, mishaps: cut | edit, faults: 1, users: 1}
	readDrained   = world{tasks: oneReading, mishaps: drain, users: 1}
	readGivenUp   = world{tasks: oneReading, mishaps: drain | freeze | edit, faults: 1, users: 2}

	onceEdited  = world{tasks: oneOnce, mishaps: edit, users: 1}
	onceRefused = world{tasks: oneOnce, mishaps: kill, faults: 1}
	onceCrashed = world{tasks: oneOnce, mishaps: crash, faults: 1}
	onceDrained = world{tasks: oneOnce, mishaps: drain, users: 1}
	onceLeft    = world{tasks: oneOnce, mishaps: drain | freeze | cut, faults: 2, users: 1}

	deletedBefore = world{tasks: following, mishaps: edit, users: 1}
	cutBefore     = world{tasks: following, mishaps: cut, faults: 1}
	readLane      = world{tasks: twoReading, mishaps: cut, faults: 1}
	drainedLane   = world{tasks: twoWriting, mishaps: drain, users: 1}

	farEdited    = world{tasks: oneRemote, mishaps: crash | edit, faults: 1, users: 1}
	farForgotten = world{tasks: oneRemote, mishaps: crash, faults: 1}
	farGivenOut  = world{tasks: oneRemote, mishaps: farCrash | stranger, faults: 1, users: 1}
	farFailover  = world{tasks: oneRemote, mishaps: failover | stranger, faults: 1, users: 1}
	farRefused   = world{tasks: oneRemote, mishaps: crash | kill | edit, faults: 2, users: 1}
	farUntold    = world{tasks: oneRemote, mishaps: failover | freeze, faults: 2}
)

type leftOut struct {
	rule   rule
	breaks property
	world  world
}

var needed = []leftOut{
	{prepareAsksXmin, changedRow, edited},
	{prepareAsksState, changedRow, edited},
	{prepareAsksUnprepared, effectsFail, farRefused},
	{prepareAnswered, effectsPlan, refused},
	{prepareNoneRolls, effectsPlan, edited},
	{prepareOnce, effectsPlan, unplugged},
	{prepareIDLater, doneWithout, givenOut},
	{prepareShieldsNothing, laneLimit, cutBefore},
	{rollbackCloses, doneWithout, farEdited},
	{endAsksXact, ownEnd, givenOut},
	{endAsksStatus, doneWithout, forgotten},
	{endAsksXmin, changedRow, readEdited},
	{endAsksStart, ownEnd, readUnplugged},
	{endOfMarkedAsksWork, changedRow, readForgotten},
	{dropEnds, changedRow, readForgotten},
	{registerLedger, changedRow, readForgotten},
	{afterWaits, afterSees, deletedBefore},
	{judgeAsksStatus, effectsPlan, unplugged},
	{judgeWaits, effectsPlan, unplugged},
	{judgeGone, drainCuts, readDrained},
	{judgeAsksStart, everyRunEnds, cutBefore},
	{abortedOnceFails, startedOnce, onceRefused},
	{xactCleared, doneWithout, stopped},
	{stopPutBack, effectsStop, edited},
	{stopHolds, stopLost, stopped},
	{markAsksXmin, changedRow, edited},
	{markUnderLock, changedRow, readForgotten},
	{markFirst, changedRow, onceEdited},
	{markAnswered, changedRow, onceEdited},
	{markOnDisk, startedOnce, onceCrashed},
	{markNoneCancels, changedRow, onceEdited},
	{endUnmarked, laneLimit, unplugged},
	{awaitGone, laneLimit, unplugged},
	{countMarked, laneLimit, drainedLane},
	{dropReady, changedRow, readForgotten},
	{endStaleHolder, everyRunEnds, frozen},
	{recogniseByStart, foreignSession, pidAgain},
	{registerFirst, laneLimit, unplugged},
	{nothingAfterMark, laneLimit, readLane},
	{callBackFirst, laneLimit, readLane},
	{reuseAfterEnd, laneLimit, cutBefore},
	{reuseAfterTrip, laneLimit, cutBefore},
	{keepOpen, drainCuts, readDrained},
	{endLostClient, everyRunEnds, unplugged},
	{countRuns, laneLimit, readCutEdited},
	{keepUntilGone, laneLimit, readUnplugged},
	{drainMarks, drainCuts, readDrained},
	{drainAwaitsPrepared, drainCuts, givenAway},
	{drainStarts, everyRunEnds, onceDrained},
	{drainCancels, everyRunEnds, readGivenUp},
	{drainLeaves, everyRunEnds, onceLeft},
	{remoteMarkFirst, everyRunEnds, farForgotten},
	{remoteAsksMark, changedRow, farEdited},
	{fenceFirst, doneWithout, farGivenOut},
	{prepareOnDisk, effectsPlan, farForgotten},
	{remoteSync, doneWithout, farGivenOut},
	{judgeAsksTimeline, doneWithout, farFailover},
	{untoldFails, effectsPlan, farUntold},
	{judgeAsksPrimary, effectsPlan, farForgotten},
	{futureIsNever, everyRunEnds, farFailover},
}

// large are rules that only large cases need.
var large = []rule{drainCancels, drainLeaves}

// unneeded are rules that no property needs: they save work, or guard things outside of the model.
var unneeded = []leftOut{
	{preparedAgain, unbroken, unplugged},
	{prepareUnderLock, unbroken, frozen},
	{endLedger, unbroken, readCutEdited},
	{readAfterGone, unbroken, readCutEdited},
	{readAgain, unbroken, readEdited},
}
