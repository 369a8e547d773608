package ledger

import "time"

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
