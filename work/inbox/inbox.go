package inbox

import (
	"context"
	"sync"

	"pgtaskd/work/control"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Config is what an Inbox works with.
type Config struct {
	Control *control.Control
	Longest int64                  // text that is brought, in bytes
	Put     func(...*ledger.Entry) // into the ledger; any goroutine may call it

	// The loop calls these.
	Register func(context.Context, []pool.Backend) error
	Seen     func(run.Outcome)
	ToMark   func(t *run.Task, what run.Marking, answer chan<- run.Answer) // the answer has room for one
}

// Inbox is where runners leave what the loop has to do. Its methods say who may call them.
type Inbox struct {
	Config
	poked chan struct{} // whenever something is left; pokes coalesce
	asked chan struct{} // by those alone that wait

	mu    sync.Mutex
	left  []func() // for Take
	later []func() // for Do

	// The loop's: what it has taken out and not answered yet.
	sessions  []session
	questions []question
}

// session is one that is to be registered.
type session struct {
	backend pool.Backend
	leader  int32        // the control session that is to register it; 0: any
	answer  chan<- error // has room for one
}

// question is one to the server, which the loop asks on the control connection.
type question struct {
	put    func(context.Context, *run.Answer) error
	answer chan<- run.Answer // has room for one
}

// New returns an empty one.
func New(c Config) *Inbox {
	return &Inbox{Config: c, poked: make(chan struct{}, 1), asked: make(chan struct{}, 1)}
}

// Wake has the loop begin a round. Any goroutine may call it.
func (b *Inbox) Wake() { poke(b.poked) }

// Poked tells when something was left.
func (b *Inbox) Poked() <-chan struct{} { return b.poked }

// Asked tells when somebody has begun to wait.
func (b *Inbox) Asked() <-chan struct{} { return b.asked }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Take takes down what runners have left. The loop calls it when a round begins.
func (b *Inbox) Take() { b.do(&b.left) }

// Later leaves something for the loop to do. Any goroutine may call it.
func (b *Inbox) Later(do func()) { b.leave(&b.later, do) }

// Do does what Later has left. The loop calls it.
func (b *Inbox) Do() { b.do(&b.later) }

func (b *Inbox) leave(list *[]func(), do func()) {
	b.mu.Lock()
	*list = append(*list, do)
	b.mu.Unlock()
	b.Wake()
}

func (b *Inbox) do(list *[]func()) {
	b.mu.Lock()
	all := *list
	*list = nil
	b.mu.Unlock()
	for _, do := range all {
		do()
	}
}

// ask has the loop take down a question, and waits for the answer; ok is false when ctx ends before.
func ask[A any](ctx context.Context, b *Inbox, take func(chan<- A)) (found A, ok bool) {
	answer := make(chan A, 1)
	b.leave(&b.left, func() { take(answer) })
	poke(b.asked)
	select {
	case found = <-answer:
		return found, true
	case <-ctx.Done():
		return found, false
	}
}

// Waited tells whether somebody waits for what Enlist or Answer does. The loop calls it.
func (b *Inbox) Waited() bool { return len(b.sessions)+len(b.questions) > 0 }

// Decline answers no to them. The loop calls it.
func (b *Inbox) Decline() {
	for _, q := range b.questions {
		q.answer <- run.Answer{}
	}
	for _, s := range b.sessions {
		s.answer <- pool.ErrNotLeading
	}
	b.sessions, b.questions = nil, nil
}
