package model

// rule is one rule of the protocol. Where it is left out, the model does what the rule forbids.
type rule uint8

const (
	endAsksXmin rule = iota
	endAsksState
	noRowRollsBack
	markAsksXmin
	markUnderLock
	markFirst
	markAnswered
	markOnDisk
	refusedNeverStarts
	endUnmarked
	awaitGone
	countMarked
	dropReady
	registerFirst
	registerCompleter
	nothingBehindMark
	callBackFirst
	reuseAfterEnd
	reuseAfterTrip
	keepOpen
	judgeAsksStart
	endAsksStart
	dropEnds
	markedAsksWork
	endLostClient
	judgeGone
	countRuns
	keepUntilGone
	endStaleHolder
	recogniseByStart
	drainMarks
	drainStarts
	drainCancels
	drainLeaves
	// These nothing breaks without.
	endCompleter
	readAfterGone
	readAgain
	rules
)

// ruleNames say what each rule demands. The numbers are those of the design.
var ruleNames = [rules]string{
	endAsksXmin:        "an end asks for the row as it was read",
	endAsksState:       "an end asks for PLAN, or for WORK and its own session",
	noRowRollsBack:     "an end that finds no row rolls the effects back",
	markAsksXmin:       "a mark asks for the row as it was read",
	markUnderLock:      "a mark is executed by the session that holds the lock, or never",
	markFirst:          "rerun = false is marked before it starts",
	markAnswered:       "an unanswered mark is no mark: wait",
	markOnDisk:         "a mark of rerun = false is on the disk before the run",
	refusedNeverStarts: "a mark that finds no row cancels the run",
	endUnmarked:        "1: a takeover ends the old leader's unmarked sessions",
	awaitGone:          "1: a takeover waits until they are gone",
	countMarked:        "1: a takeover counts lanes from the WORK rows",
	dropReady:          "1: what was read is dropped when the control connection was lost",
	registerFirst:      "2: a session is registered through the control connection before its first task",
	registerCompleter:  "2: so is the completer's connection before its first end of an unmarked run",
	nothingBehindMark:  "3: nothing is sent behind a run that is marked, or whose mark is sent",
	callBackFirst:      "3: what was sent behind a run is called back before the run is marked",
	reuseAfterEnd:      "3: the session of a marked run is used again when its end is committed",
	reuseAfterTrip:     "3: and when a control round trip has passed",
	keepOpen:           "3: the session of a marked run stays open until its end is committed",
	judgeAsksStart:     "4: the owner of a WORK row is (pid, start): who judges it asks for both",
	endAsksStart:       "4: the completer's end asks for both",
	dropEnds:           "4: who does not hold the lock writes ends of WORK rows only",
	markedAsksWork:     "4: the completer's end of a marked run asks for WORK and its session only",
	endLostClient:      "5: a session that has lost its client is ended",
	judgeGone:          "5: a WORK row is not judged while its backend lives",
	countRuns:          "5: runs are counted in lanes, not rows",
	keepUntilGone:      "5: a run is over when its backend is gone, not when its connection is",
	endStaleHolder:     "6: followers end a stale holder of the lock",
	recogniseByStart:   "7: a session is recognised by (pid, backend_start)",
	drainMarks:         "8: a draining leader marks all that it runs before it gives the lead away",
	drainStarts:        "8: it starts what it has marked and not started yet",
	drainCancels:       "8: it cancels a run whose mark has found no row",
	drainLeaves:        "8: who does not lead leaves a run whose connection is lost to the leader",
	endCompleter:       "7: a takeover ends the completer's connection",
	readAfterGone:      "1: a takeover reads what is due when the sessions are gone",
	readAgain:          "15: what was read is compared with the table before it starts",
}
