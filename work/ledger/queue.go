package ledger

import (
	"slices"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
)

// Most is the maximum number of rows in a round, sizeMost about that of bytes of texts.
const (
	Most     = 1000
	sizeMost = 1 << 20
)

// lockedMost limits how long the ledger retries a preparation that meets somebody else's lock.
// ownMost is the limit if the run must not be repeated and may hold the lock itself.
const (
	lockedMost  = 5 * time.Second
	ownMost     = time.Minute
	lockedFirst = 2 * time.Millisecond
	lockedPause = 50 * time.Millisecond
)

// Queue holds unwritten entries, and tells each its answer. It has no connection and no clock.
type Queue struct {
	urgent []*waiting // sessions wait for these in an open transaction
	others []*waiting
	groups int // number of groups so far
}

// Len returns the number of entries.
func (q *Queue) Len() int { return len(q.urgent) + len(q.others) }

// Urgent reports whether a session waits in an open transaction.
func (q *Queue) Urgent() bool { return len(q.urgent) > 0 }

// Awaited reports whether a session waits for any entry.
func (q *Queue) Awaited() bool {
	return q.Urgent() || slices.ContainsFunc(q.others, func(e *waiting) bool { return e.Awaited })
}

// Seen adds an entry.
func (q *Queue) Seen(e *Entry) { q.add(&waiting{Entry: e}) }

func (q *Queue) add(e *waiting) {
	if e.Kind.urgent() {
		q.urgent = append(q.urgent, e)
	} else {
		q.others = append(q.others, e)
	}
}

// few is the number of entries up to which a round counts as small.
const few = 2

// Next takes out the entries of the next round: preparations before ends, each id once. If only one
// session waits, a few ends do not go with it: they are written while it commits.
func (q *Queue) Next(now time.Time) (round []*waiting) {
	if len(q.urgent) == 1 && len(q.others) <= few && !q.urgent[0].after.After(now) {
		round, q.urgent = q.urgent, nil
		return round
	}
	size, ids := 0, map[int64]bool{}
	take := func(e *waiting) bool {
		if len(round) == Most || size >= sizeMost || e.after.After(now) || ids[e.ID] ||
			len(round) > 0 && (e.group != 0 || round[0].group != 0) && e.group != round[0].group {
			return false
		}
		round, size, ids[e.ID] = append(round, e), size+e.size(), true
		return true
	}
	q.urgent = slices.DeleteFunc(q.urgent, take)
	q.others = slices.DeleteFunc(q.others, take)
	return round
}

// Rest returns how long there is nothing to write.
func (q *Queue) Rest(now time.Time) time.Duration {
	rest := hold.Never
	for _, e := range slices.Concat(q.urgent, q.others) {
		rest = min(rest, max(e.after.Sub(now), 0))
	}
	return rest
}

// Row is the answer of the statement for a row that it has met.
type Row struct {
	Stays bool // a trigger has kept the row as it was
	Empty bool
}

// Written tells the entries of a round what the statement has returned, by id. It returns the
// entries whose rows were passed over: the caller finds out why, and calls Looked.
func (q *Queue) Written(round []*waiting, rows map[int64]Row) (look []*waiting) {
	for _, e := range round {
		switch row, met := rows[e.ID]; {
		case met && !row.Stays:
			e.Tell(Answer{Result: Taken, Empty: row.Empty, Err: e.bare})
		case met && e.Kind.urgent():
			q.refused(e, fault.ErrKept)
		case e.Kind.urgent():
			look = append(look, e)
		default:
			e.Tell(Answer{Result: Passed})
		}
	}
	return look
}

// Failed handles an error by which the server has refused a round. A round of several rows is
// split, until the row that causes the error is alone.
func (q *Queue) Failed(round []*waiting, err error, now time.Time) (look []*waiting) {
	if len(round) > 1 {
		for part := range slices.Chunk(round, (len(round)+1)/2) {
			q.groups++
			for _, e := range part {
				e.group = q.groups
				q.add(e)
			}
		}
		return nil
	}
	e, class := round[0], fault.Of(err)
	switch {
	case !e.Kind.urgent():
		e.Tell(Answer{Result: Passed, Err: err})
	case fault.Has(err, "55P03"): // the entry has waited for a lock in vain, even if the error comes from SQL
		return round
	case class == fault.Crossed, class == fault.Deadlocked: // passes soon, unless the table's own code raises it
		q.later(e, now, false, Answer{Result: Refused, Err: err})
	case class == fault.QueueFull, class == fault.Outdated, fault.OfServer(err): // passes some day
		q.later(e, now, e.Patient, Answer{Result: Locked})
	default:
		q.refused(e, err)
	}
	return nil
}

// refused retries an entry without its texts, if it has any.
func (q *Queue) refused(e *waiting, err error) {
	if e.size() == 0 {
		e.Tell(Answer{Result: Refused, Err: err})
		return
	}
	e.Output, e.Notice, e.bare, e.unlocked = nil, nil, err, 0
	q.add(e)
}

// Reason is why a row was passed over.
type Reason int

// The reasons.
const (
	LockedByOther Reason = iota // another transaction has the lock, or it is not known who has it
	LockedByRun                 // the run itself has the lock
	MaybeByRun                  // the run may have it: no other transaction seems to
	Unlocked                    // nobody has a lock on the row or the table
	RowChanged                  // the row is not as it was read
	SessionGone                 // the session does not exist any more
)

// unlockedMost is how often in a row an entry is passed over while its row is unlocked, before the
// ledger blames the table: somebody may have released a lock just before the look.
const unlockedMost = 3

// Looked decides what to do with an entry whose row was passed over.
func (q *Queue) Looked(e *waiting, why Reason, now time.Time) {
	if e.since.IsZero() {
		e.since = now
	}
	if why == Unlocked {
		e.unlocked++
	} else {
		e.unlocked = 0
	}
	switch {
	case why == SessionGone:
		e.Tell(Answer{Result: Lost})
	case why == RowChanged:
		e.Tell(Answer{Result: Changed})
	case why == LockedByRun, why == MaybeByRun && (!e.Patient || now.Sub(e.since) >= ownMost):
		e.Tell(Answer{Result: Own})
	case e.unlocked >= unlockedMost:
		q.refused(e, fault.ErrKept)
	default:
		q.later(e, now, e.Patient, Answer{Result: Locked})
	}
}

// later retries an entry after a pause. After lockedMost it tells the entry the answer after
// instead, unless patient is set.
func (q *Queue) later(e *waiting, now time.Time, patient bool, after Answer) {
	if e.since.IsZero() {
		e.since = now
	}
	if !patient && now.Sub(e.since) >= lockedMost {
		e.Tell(after)
		return
	}
	e.after = now.Add(min(lockedFirst<<min(e.tries, 8), lockedPause))
	e.tries++
	q.add(e)
}

// Take removes and returns all entries.
func (q *Queue) Take() (all []*waiting) {
	all = slices.Concat(q.urgent, q.others)
	q.urgent, q.others = nil, nil
	return all
}

// Kind says what an entry writes.
type Kind byte

// The kinds of sql/query/ledger.sql. A session waits in an open transaction for Prepare and Claim.
const (
	Prepare Kind = 'p' // the transaction that is about to commit, with the texts of the run
	Claim   Kind = 'c' // the same, before the SQL begins
	Mark    Kind = 'm' // the task runs
	Done    Kind = 'd' // the run has ended well; with its texts
	Settle  Kind = 's' // the same for a prepared row, which has the texts already
)

// urgent reports whether a session waits for the entry in an open transaction.
func (k Kind) urgent() bool { return k == Prepare || k == Claim }

// Entry is what to write to one row. After Put it belongs to the ledger.
type Entry struct {
	Kind           Kind
	ID             int64
	Version        uint32    // of the row as it was read; 0: the row must have our mark
	PID            int32     // of the session
	Since          time.Time // when the session began
	Start, Stop    time.Time // Stop is zero if the run has not ended
	Output, Notice *string
	Exactly        bool   // the effects happen exactly once
	Xact           int64  // 0: none
	Place          string // on a remote, where that transaction is, as in xact_at
	Flush          bool   // the server must have it on disk before the answer
	Awaited        bool   // a task starts only after the answer
	Patient        bool   // waits for a lock as long as it takes: the run must not be repeated

	// Tell is called once, while the ledger is locked: it must not block, nor call the ledger.
	Tell func(Answer)
}

// waiting is an entry in the queue, with the results of its tries.
type waiting struct {
	*Entry
	group    int       // a round with an entry of a group takes only entries of that group
	since    time.Time // when it first met a lock
	after    time.Time // not tried before this time
	tries    int
	unlocked int   // how often in a row it was passed over while the row was unlocked
	bare     error // why the table refused its texts; the entry is now written without them
}

// size is the size of the texts, in bytes.
func (e *Entry) size() (n int) {
	for _, text := range []*string{e.Output, e.Notice} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}

// orNull returns nil for the zero value, which makes the parameter NULL.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Answer is the final answer to an entry.
type Answer struct {
	Result Result
	Empty  bool  // the task has nothing to show, and should be deleted
	Err    error // why the table refuses the entry, or (Taken) only its texts
}

// Result is the kind of an answer.
type Result int

// The results.
const (
	Taken     Result = iota // the row shows it, and that is committed
	Passed                  // not written; another statement has to try
	Changed                 // the row has changed since it was read
	Own                     // the run itself holds the lock
	Locked                  // somebody else has held the lock for too long
	Refused                 // the table refuses it even without the texts
	Lost                    // the connection was lost; it may have been written
	Withdrawn               // taken back, and not written
)
