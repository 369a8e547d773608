package model

// rule is one rule of the protocol. If it is left out, the model takes the steps that it forbids.
type rule uint8

const (
	prepareAsksXmin rule = iota
	prepareAsksState
	prepareAsksUnprepared
	prepareAnswered
	prepareNoneRolls
	prepareOnce
	prepareIDLater
	prepareShieldsNothing
	rollbackCloses

	endAsksXact
	endAsksStatus
	endAsksXmin
	endAsksStart
	endOfMarkedAsksWork
	dropEnds
	registerLedger
	afterWaits

	judgeAsksStatus
	judgeWaits
	judgeGone
	judgeAsksStart
	abortedOnceFails
	xactCleared
	stopPutBack
	stopHolds

	markAsksXmin
	markUnderLock
	markFirst
	markAnswered
	markOnDisk
	markNoneCancels

	endUnmarked
	awaitGone
	countMarked
	dropReady
	endStaleHolder
	recogniseByStart

	registerFirst
	nothingAfterMark
	callBackFirst
	reuseAfterEnd
	reuseAfterTrip
	keepOpen
	endLostClient
	countRuns
	keepUntilGone

	drainMarks
	drainAwaitsPrepared
	drainStarts
	drainCancels
	drainLeaves

	remoteMarkFirst
	remoteAsksMark
	fenceFirst
	prepareOnDisk
	remoteSync
	judgeAsksTimeline
	untoldFails
	judgeAsksPrimary
	futureIsNever

	// Nothing breaks without these.
	preparedAgain
	prepareUnderLock
	endLedger
	readAfterGone
	readAgain
	rules
)

// ruleNames state what each rule demands.
var ruleNames = [rules]string{
	prepareAsksXmin:       "PREPARE of an unmarked run asks for the row as it was read",
	prepareAsksState:      "PREPARE asks for PLAN, or for WORK and its own session",
	prepareAsksUnprepared: "PREPARE of a marked run asks for a row without a transaction id",
	prepareAnswered:       "COMMIT is sent when PREPARE is answered",
	prepareNoneRolls:      "a PREPARE that finds no row rolls the run back",
	prepareOnce:           "a PREPARE whose answer is lost is none",
	prepareIDLater:        "PREPARE gets its own transaction id after the one of the run is known",
	prepareShieldsNothing: "PREPARE of an unmarked run leaves pid empty: only a mark shields a session at a takeover",
	rollbackCloses:        "a run that is rolled back after its mark was sent closes its session",

	endAsksXact:         "END of a prepared run asks for WORK and its transaction id",
	endAsksStatus:       "END of a prepared run asks for the status that it asserts in its own statement",
	endAsksXmin:         "END of a run that wrote nothing asks for the row as it was read",
	endAsksStart:        "END of a run that wrote nothing asks for both pid and start of its session",
	endOfMarkedAsksWork: "END of a marked run that wrote nothing asks for WORK and its session only",
	dropEnds:            "a controller that does not hold the lock writes ends of WORK rows only",
	registerLedger:      "the ledger is registered before its first PREPARE or END of an unmarked run",
	afterWaits:          "a task whose predecessor was deleted starts when the run of that is over",

	judgeAsksStatus:  "a WORK row with a transaction id is judged by the status of that",
	judgeWaits:       "the judge waits for a transaction in progress",
	judgeGone:        "a WORK row without a transaction id is not judged while its backend lives",
	judgeAsksStart:   "the judge of a row without a transaction id asks for both pid and start",
	abortedOnceFails: "rerun = false FAILs when its transaction has aborted",
	xactCleared:      "MARK, END and a row that is given back set the transaction id to null",
	stopPutBack:      "STOP of a prepared row is put back and remembered, PLAN of one changes nothing",
	stopHolds:        "a remembered STOP holds when the transaction has aborted",

	markAsksXmin:    "MARK asks for the row as it was read",
	markUnderLock:   "MARK is executed by the session that holds the lock, or never",
	markFirst:       "rerun = false is marked before it starts",
	markAnswered:    "an unanswered mark is no mark: wait",
	markOnDisk:      "the mark of rerun = false is on the disk before the run starts",
	markNoneCancels: "a mark that finds no row cancels the run",

	endUnmarked:      "a takeover ends the registered sessions that run nothing marked",
	awaitGone:        "a takeover waits until they are gone",
	countMarked:      "a takeover counts lanes from the WORK rows",
	dropReady:        "a leader that loses its control connection drops all that it has read",
	endStaleHolder:   "followers end a stale holder of the lock",
	recogniseByStart: "a session is recognised by (pid, backend_start)",

	registerFirst:    "a session is registered through the control connection before its first task",
	nothingAfterMark: "nothing is sent after a run that is marked, or whose mark is sent",
	callBackFirst:    "the task that was sent after a run is called back before the run is marked",
	reuseAfterEnd:    "the session of a marked run is used again when its end is committed",
	reuseAfterTrip:   "and when a round trip on the control connection has passed",
	keepOpen:         "the session of a marked run stays open until its end is committed",
	endLostClient:    "a session that has lost its client is ended",
	countRuns:        "lanes count runs, not rows",
	keepUntilGone:    "a run is over when its backend is gone, not when its connection is",

	drainMarks:          "a draining leader marks all that it runs before it gives the lead away",
	drainAwaitsPrepared: "it ends all that it has prepared and not marked before that",
	drainStarts:         "it starts the tasks that it has marked and not started yet",
	drainCancels:        "it cancels a run whose mark has found no row",
	drainLeaves:         "a controller that does not lead leaves a run whose connection is lost to the leader",

	remoteMarkFirst:   "remote: MARK comes before the run starts",
	remoteAsksMark:    "remote: PREPARE asks for the mark of its run",
	fenceFirst:        "remote: PREPARE is sent when the fence is on the disk",
	prepareOnDisk:     "remote: COMMIT is sent when PREPARE is on the disk",
	remoteSync:        "remote: COMMIT waits for the disk",
	judgeAsksTimeline: "remote: committed on a later timeline is not believed",
	untoldFails:       "remote: a run of which nobody can tell how it has ended FAILs, and never runs again by itself",
	judgeAsksPrimary:  "remote: the judge asks the primary",
	futureIsNever:     "remote: a transaction id that was not handed out has not happened",

	preparedAgain:    "a marked run whose PREPARE is not answered is prepared again",
	prepareUnderLock: "a controller that does not lead prepares marked runs only",
	endLedger:        "a takeover ends the ledger of the old leader",
	readAfterGone:    "a takeover reads the due tasks when the sessions are gone",
	readAgain:        "a row that has changed since it was read is read again before it starts",
}
