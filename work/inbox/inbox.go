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
	Control  *control.Control
	Longest  int64                  // text that is brought, in bytes
	Put      func(...*ledger.Entry) // into the ledger; any goroutine may call it
	Register func(context.Context, []pool.Backend) error
}

// Inbox is where runners leave what the loop has to do. Its methods say who may call them.
type Inbox struct {
	Config
	poked chan struct{} // whenever something is left; pokes coalesce
	asked chan struct{} // by those alone that wait

	mu    sync.Mutex
	left  Mail
	later []func()

	// The loop's: what it has taken out and not answered yet.
	sessions  []session
	questions []question
}

// Mail is what was left.
type Mail struct {
	Outcomes []run.Outcome
	Marks    []Mark

	sessions  []session
	questions []question
}

// Mark is a mark that a runner waits for.
type Mark struct {
	Task   *run.Task
	What   run.Marking
	Answer chan<- run.Answer // has room for one
}

// session is one that is to be registered.
type session struct {
	backend pool.Backend
	leader  int32        // the control session that is to register it; 0: any
	answer  chan<- error // has room for one
}

func (s session) decline() { s.answer <- pool.ErrNotLeading }

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

// leave adds something to what was left.
func (b *Inbox) leave(add func(*Mail)) {
	b.mu.Lock()
	add(&b.left)
	b.mu.Unlock()
	b.Wake()
}

// Take empties the inbox, and returns what others see to. The loop calls it.
func (b *Inbox) Take() Mail {
	b.mu.Lock()
	mail := b.left
	b.left = Mail{}
	b.mu.Unlock()
	b.sessions, b.questions = append(b.sessions, mail.sessions...), append(b.questions, mail.questions...)
	return mail
}

// Later leaves something for the loop to do. Any goroutine may call it.
func (b *Inbox) Later(do func()) {
	b.mu.Lock()
	b.later = append(b.later, do)
	b.mu.Unlock()
	b.Wake()
}

// Do does what Later has left. The loop calls it.
func (b *Inbox) Do() {
	b.mu.Lock()
	later := b.later
	b.later = nil
	b.mu.Unlock()
	for _, do := range later {
		do()
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
		s.decline()
	}
	b.sessions, b.questions = nil, nil
}
