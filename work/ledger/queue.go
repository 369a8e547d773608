package ledger

import (
	"slices"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
)

// Most is how many rows are written in one round, at most, and sizeMost how many bytes of texts.
const (
	Most     = 1000
	sizeMost = 1 << 20
)

// lockedMost is how long a preparation is tried that meets somebody else's lock. ownMost is how
// long one is tried whose run must not be repeated and may hold the lock itself.
const (
	lockedMost  = 5 * time.Second
	ownMost     = time.Minute
	lockedFirst = 2 * time.Millisecond
	lockedPause = 50 * time.Millisecond
)

// Queue holds what is to be written, and tells each entry its answer. It knows no server and no clock.
type Queue struct {
	urgent []*waiting // somebody waits for them in an open transaction
	others []*waiting
	groups int // so many were made
}

// Len is how many entries there are.
func (q *Queue) Len() int { return len(q.urgent) + len(q.others) }

// Urgent tells whether somebody waits in an open transaction.
func (q *Queue) Urgent() bool { return len(q.urgent) > 0 }

// Seen adds an entry.
func (q *Queue) Seen(e *Entry) { q.add(&waiting{Entry: e}) }

func (q *Queue) add(e *waiting) {
	if e.Kind.urgent() {
		q.urgent = append(q.urgent, e)
	} else {
		q.others = append(q.others, e)
	}
}

// few are entries that are not worth a round of many.
const few = 2

// Next takes out what is to be written now, together: preparations before ends, and no id twice. A
// session that waits alone does not wait for few ends: they have the time of its COMMIT.
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

// Rest is how long nothing is to be written.
func (q *Queue) Rest(now time.Time) time.Duration {
	rest := hold.Never
	for _, e := range slices.Concat(q.urgent, q.others) {
		rest = min(rest, max(e.after.Sub(now), 0))
	}
	return rest
}

// Row is what the statement says of an entry whose row it has met.
type Row struct {
	Stays bool // a trigger has kept it as it was
	Empty bool
}

// Written takes what the statement has returned for a round, by id. It returns the entries whose
// rows were passed over: the caller finds out why, and calls Looked.
func (q *Queue) Written(round []*waiting, rows map[int64]Row) (look []*waiting) {
	for _, e := range round {
		switch row, met := rows[e.ID]; {
		case met && !row.Stays:
			e.Tell(Answer{Result: Taken, Empty: row.Empty, Err: e.bare})
		case met && e.Kind.urgent():
			q.refused(e, fault.ErrKept)
		case e.Kind.urgent():
			e.waited, look = false, append(look, e)
		default:
			e.Tell(Answer{Result: Passed})
		}
	}
	return look
}

// Failed takes the error by which the server has refused a round. A round of several rows is tried by
// parts, until the row in question stands alone.
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
	case fault.Has(err, "55P03"): // it has waited for a lock in vain, whoever says so
		e.waited = true
		return round
	case class == fault.Crossed, class == fault.Deadlocked: // unless that is the table's own doing, it goes well soon
		q.later(e, now, false, Answer{Result: Refused, Err: err})
	case class == fault.QueueFull, class == fault.Outdated, fault.OfServer(err): // it goes well some day
		q.later(e, now, e.Patient, Answer{Result: Locked})
	default:
		q.refused(e, err)
	}
	return nil
}

// refused has an entry tried without its texts, if that may help.
func (q *Queue) refused(e *waiting, err error) {
	if e.size() == 0 {
		e.Tell(Answer{Result: Refused, Err: err})
		return
	}
	e.Output, e.Notice, e.bare, e.silent = nil, nil, err, 0
	q.add(e)
}

// Look is what was found out about a row that was passed over.
type Look struct {
	Gone   bool // the session is not there any more
	Ours   bool // it is still as it was read
	Free   bool // nobody has it locked, nor the table
	Own    bool // the run itself holds what is in the way,
	MayOwn bool // or may hold it
}

// Looked decides what follows from a look. If an entry has waited for a lock, and nobody is seen to
// hold one on the row or the table, its own run probably holds it: on a row that a trigger of the
// table changes, or by an equal value in an index.
func (q *Queue) Looked(e *waiting, l Look, now time.Time) {
	if e.since.IsZero() {
		e.since = now
	}
	free := l.Free && !e.waited
	own := l.Own || l.MayOwn && !free && (!e.Patient || now.Sub(e.since) >= ownMost)
	if e.silent++; !free {
		e.silent = 0
	}
	switch {
	case l.Gone:
		e.Tell(Answer{Result: Lost})
	case !l.Ours:
		e.Tell(Answer{Result: Changed})
	case own && e.Kind == Prepare:
		e.Tell(Answer{Result: Own})
	case e.silent >= silences:
		q.refused(e, fault.ErrKept)
	default:
		q.later(e, now, e.Patient, Answer{Result: Locked})
	}
}

// silences is how often in a row a preparation must be passed over, with nobody in the way, before
// the ledger blames the table itself: a holder may have let the row go in between.
const silences = 3

// later has an entry tried again. After lockedMost the entry gets the answer after; a patient one
// is tried for as long as it takes.
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

// Take empties the queue.
func (q *Queue) Take() (all []*waiting) {
	all = slices.Concat(q.urgent, q.others)
	q.urgent, q.others = nil, nil
	return all
}

// Kind is what an entry has written.
type Kind byte

// The kinds, as sql/query/ledger.sql has them. Those that somebody waits for in an open transaction
// come first.
const (
	Prepare Kind = 'p' // the transaction that is about to commit, with the texts of the run
	Claim   Kind = 'c' // the same before its SQL begins
	Mark    Kind = 'm' // that it runs
	Done    Kind = 'd' // that it has ended well, with its texts
	Settle  Kind = 's' // the same of what was prepared: the row has its texts
)

// urgent tells the kinds for which a session waits in an open transaction.
func (k Kind) urgent() bool { return k == Prepare || k == Claim }

// Entry is what is to be written to one row. It belongs to the ledger once it is put there.
type Entry struct {
	Kind           Kind
	ID             int64
	Version        uint32    // of the row that was read; 0: only a mark of ours will do
	PID            int32     // of the session,
	Since          time.Time // when that began
	Start, Stop    time.Time // zero: it has not ended
	Output, Notice *string
	Exactly        bool  // effects happen exactly once
	Xact           int64 // 0: none
	Flush          bool  // it must be on the server's disk before it is answered
	Patient        bool  // it waits for a lock as long as it takes: its run must not be repeated

	// Tell is called once with the answer, while the ledger is locked: it must not block, nor call that.
	Tell func(Answer)
}

// waiting is an entry in the queue, with what became of its tries.
type waiting struct {
	*Entry
	group  int       // entries of one group are written together
	since  time.Time // when it first met a lock
	after  time.Time // the next try
	tries  int
	waited bool  // it has waited for a lock in vain, and not been passed over
	silent int   // how often in a row it was passed over, and nobody was in the way
	bare   error // why the table has refused its texts: it is written without
}

// size is that of its texts, in bytes.
func (e *Entry) size() (n int) {
	for _, text := range []*string{e.Output, e.Notice} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}

// orNull is a parameter that is NULL where the value is the zero one.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Answer is what became of an entry.
type Answer struct {
	Result Result
	Empty  bool  // the task has nothing to show, and is to be deleted
	Err    error // why the table refuses it, or (Taken) its texts
}

// Result says what became of an entry.
type Result int

// The results.
const (
	Taken     Result = iota // the row shows it, and that is committed
	Passed                  // it was not written: somebody is to look closer
	Changed                 // the row is not as it was read any more
	Own                     // the run itself has what is in the way
	Locked                  // somebody else has had it for too long
	Refused                 // the table does not take even the least of it
	Lost                    // the connection was lost, and it may have been written
	Withdrawn               // it was taken back, and has not been written
)
