package model

import (
	"slices"
	"testing"
)

// TestEachRuleIsNeeded leaves out one rule at a time. The check must see what breaks; -v prints the
// shortest way there.
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
			t.Logf("breaks: %s%s", propertyNames[found], why)
		})
	}
}

// TestRulesAreListedOnce: each rule is needed, or is one that nothing breaks without.
func TestRulesAreListedOnce(t *testing.T) {
	var times [rules]int
	for _, c := range needed {
		times[c.rule]++
	}
	for _, r := range unneeded {
		times[r]++
	}
	for r, n := range times {
		if n != 1 {
			t.Errorf("%q is listed %d times", ruleNames[r], n)
		}
	}
}

// The cases in which the rules show what they are for.
var (
	edited     = world{tasks: oneWriting, mishaps: freeze | edit, faults: 1, users: 1}
	forgotten  = world{tasks: oneReading, mishaps: crash | edit, faults: 1, users: 2}
	paid       = world{tasks: oneOnce, mishaps: crash | freeze | edit, faults: 1, users: 1}
	frozen     = world{tasks: oneReading, mishaps: freeze, faults: 1}
	frozenLane = world{tasks: twoWriting, mishaps: freeze, faults: 1}
	readLane   = world{tasks: twoReading, mishaps: freeze, faults: 1}
	unplugged  = world{tasks: oneReading, mishaps: cut, faults: 1}
	pidAgain   = world{tasks: oneWriting, mishaps: freeze | cut | foreign, faults: 1, users: 1}
	drainRead  = world{tasks: oneReading, mishaps: drain, users: 1}
	drainPaid  = world{tasks: oneOnce, mishaps: drain, users: 1}
	drainCut   = world{tasks: oneOnce, mishaps: drain | freeze | cut, faults: 2, users: 1}
	drainEdit  = world{tasks: oneWriting, mishaps: drain | freeze | edit, faults: 1, users: 2}
	drainLane  = world{tasks: twoWriting, mishaps: drain, users: 1}
)

var needed = []struct {
	rule   rule
	breaks property
	world  world
}{
	{endAsksXmin, changedRow, edited},
	{endAsksState, changedRow, edited},
	{noRowRollsBack, effectsWithEnd, edited},
	{markAsksXmin, changedRow, edited},
	{markUnderLock, changedRow, forgotten},
	{markFirst, changedRow, paid},
	{markAnswered, changedRow, paid},
	{markOnDisk, startedOnce, paid},
	{refusedNeverStarts, changedRow, paid},
	{endUnmarked, laneLimit, edited},
	{awaitGone, laneLimit, edited},
	{countMarked, laneLimit, frozenLane},
	{dropReady, changedRow, forgotten},
	{registerFirst, laneLimit, edited},
	{registerCompleter, changedRow, forgotten},
	{nothingBehindMark, laneLimit, frozenLane},
	{callBackFirst, laneLimit, frozenLane},
	{reuseAfterEnd, laneLimit, readLane},
	{reuseAfterTrip, laneLimit, frozenLane},
	{keepOpen, drainCuts, drainRead},
	{judgeAsksStart, everyRunEnds, frozenLane},
	{endAsksStart, ownEnd, frozen},
	{dropEnds, changedRow, forgotten},
	{markedAsksWork, changedRow, forgotten},
	{endLostClient, everyRunEnds, edited},
	{judgeGone, drainCuts, drainRead},
	{countRuns, laneLimit, edited},
	{keepUntilGone, laneLimit, unplugged},
	{endStaleHolder, everyRunEnds, edited},
	{recogniseByStart, foreignSession, pidAgain},
	{drainMarks, drainCuts, drainLane},
	{drainStarts, everyRunEnds, drainPaid},
	{drainCancels, everyRunEnds, drainEdit},
	{drainLeaves, everyRunEnds, drainCut},
}

// large are rules that show what they are for only in large cases.
var large = []rule{drainCancels, drainLeaves}

// unneeded are rules without which all properties hold: they save work, or guard what the model
// does not express.
var unneeded = []rule{endCompleter, readAfterGone, readAgain}

// TestNothingBreaksWithoutTheOthers keeps these apart from the rules that are needed.
func TestNothingBreaksWithoutTheOthers(t *testing.T) {
	for _, r := range unneeded {
		t.Run(ruleNames[r], func(t *testing.T) {
			t.Parallel()
			w := world{tasks: oneReading, mishaps: crash | freeze | edit, faults: 1, users: 1}
			if thorough {
				w.tasks, w.mishaps = writingReading, all
			}
			w.without[r] = true
			if found, why := w.search(t); found != unbroken {
				t.Errorf("without it: %s:%s", propertyNames[found], why)
			}
		})
	}
}
