package work

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
)

// end is what a runner tells the loop of a task that it has done with.
type end struct {
	task     *task
	kind     endKind
	pid      int32     // backend that ran it, 0: none did
	since    time.Time // start of that backend
	start    time.Time
	stop     time.Time
	result   *exec.Result
	fault    *exec.Failure // instead of the result's, where the trouble is not the SQL's own
	delay    time.Duration // of a release
	putOff                 // when it could not be written
	passed   bool          // turn.sql has passed it over
	refusals int           // how often in a row its row has not taken it, and was neither changed nor locked
	version  uint32        // of the row, then
	usual    bool          // as isUsual tells, once the loop has it
	bare     bool          // no repetition: the table has refused the end with it
	final    bool          // no retry: the table has refused another end
	ascii    bool          // as the database lacks a character
	lessened int           // how often less was made of it, as the table has refused it
	aboard   bool          // lost while it was with the server behind another task: it has not run, or what it did is gone
	stays    bool          // the backend did not obey when its run was cancelled, and is still there
	heavy    bool          // its runner waits until it is written
	written  chan struct{} // closed then; nil: nobody waits
	slot     bool          // it holds its slot until then
	relieved bool          // it is heavy, and has given its slot back all the same
	weight   int           // what the inbox has counted
}

// failure is why the task has failed, nil when it has not.
func (e end) failure() *exec.Failure {
	if e.fault == nil && e.result != nil {
		return e.result.Failure
	}
	return e.fault
}

// size is that of what is to be written, roughly, in bytes.
func (e end) size() (n int) {
	if e.result != nil {
		n = size(e.result)
	}
	if e.fault != nil {
		n += len(e.fault.Text)
	}
	return n
}

func size(result *exec.Result) (n int) {
	for _, text := range []*string{result.Output, result.Notice} {
		if text != nil {
			n += len(*text)
		}
	}
	if result.Failure != nil {
		n += len(result.Failure.Text)
	}
	return n
}

// at is when the task ended, zero when it has not run.
func (e end) at() time.Time {
	if e.start.IsZero() {
		return time.Time{}
	}
	return e.stop
}

type endKind int

const (
	committed endKind = iota // its end is written already, with its effects
	finished                 // its end is to be written
	refused                  // it could not be written with the effects, which are rolled back: somebody has changed the row
	released                 // it has not run, or has been taken back: to PLAN
	stopped                  // cancelled because of a STOP
	lost                     // cut off: what became of it is to be found out
	killed                   // its session was terminated: by a person, or by the end of the server
)

// ask is a question to the loop that a runner waits on: that the row of its task be marked WORK, for texts of it, whether we lead, or that a session be registered.
type ask struct {
	task     *task
	kind     askKind
	pid      int32
	opened   backend     // that is to be registered
	answer   chan answer // capacity one
	silences int         // how often in a row the row has not taken the mark, and nobody had it locked
	putOff               // when the row has not taken the mark
}

type askKind int

const (
	askMark askKind = iota
	askNames
	askInput
	askData
	askImage
	askLead
	askSession
)

type answer struct {
	ok      bool
	refused *exec.Failure // the row does not take the mark
	sizes   *sizes
	text    *string // nil: it is too long by now, or there is none
	err     error   // why the session is not registered
}

// inbox is where runners leave what the loop has to do. poke wakes it; pokes coalesce.
type inbox struct {
	poke  chan struct{}
	asked chan struct{} // poked by those alone that wait

	held atomic.Int64 // bytes of the ends that are not written yet

	mu   sync.Mutex
	ends []end
	asks []ask
}

func newInbox() *inbox { return &inbox{poke: make(chan struct{}, 1), asked: make(chan struct{}, 1)} }

func (b *inbox) wake() { poke(b.poke) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *inbox) end(e end) {
	e.weight = e.size()
	b.held.Add(int64(e.weight))
	b.mu.Lock()
	b.ends = append(b.ends, e)
	b.mu.Unlock()
	b.wake()
}

// ask waits for the loop's answer, which is no when ctx ends.
func (b *inbox) ask(ctx context.Context, a ask) answer {
	a.answer = make(chan answer, 1)
	b.mu.Lock()
	b.asks = append(b.asks, a)
	b.mu.Unlock()
	poke(b.asked)
	b.wake()
	select {
	case found := <-a.answer:
		return found
	case <-ctx.Done():
		return answer{}
	}
}

func (b *inbox) take() (ends []end, asks []ask) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends, asks = b.ends, b.asks
	b.ends, b.asks = nil, nil
	return ends, asks
}
