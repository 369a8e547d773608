package work

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// ask is a question to the loop that somebody waits on: that the row of a task be marked WORK, for
// texts of it, whether we lead, or that a session be registered.
type ask struct {
	kind     askKind
	run      *run.Task
	task     *task // the same, as the loop knows it
	text     run.Text
	pid      int32
	opened   pool.Backend // that is to be registered
	token    []byte       // the hash of its token; nil: it has none
	answer   chan answer  // capacity one
	silences int          // how often in a row the row has not taken the mark, and nobody had it locked
	putOff                // when the row has not taken the mark
}

type askKind int

const (
	askMark askKind = iota
	askText
	askLead
	askSession
)

type answer struct {
	run.Answer
	err error // why the session is not registered
}

// inbox is where runners leave what the loop has to do: it is the Leader they see. poke wakes the
// loop; pokes coalesce.
type inbox struct {
	poke  chan struct{}
	asked chan struct{} // poked by those alone that wait

	mu       sync.Mutex
	outcomes []run.Outcome
	asks     []ask
}

func newInbox() *inbox { return &inbox{poke: make(chan struct{}, 1), asked: make(chan struct{}, 1)} }

func (b *inbox) wake() { poke(b.poke) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Outcome leaves what was seen of a task.
func (b *inbox) Outcome(o run.Outcome) {
	b.mu.Lock()
	b.outcomes = append(b.outcomes, o)
	b.mu.Unlock()
	b.wake()
}

// Mark waits until the row of the task shows WORK.
func (b *inbox) Mark(ctx context.Context, t *run.Task, pid int32) run.Answer {
	return b.ask(ctx, ask{kind: askMark, run: t, pid: pid}).Answer
}

// Text waits for a text of the task's row.
func (b *inbox) Text(ctx context.Context, t *run.Task, which run.Text) run.Answer {
	return b.ask(ctx, ask{kind: askText, run: t, text: which}).Answer
}

// Leads waits until the loop knows that it leads.
func (b *inbox) Leads(ctx context.Context) bool { return b.ask(ctx, ask{kind: askLead}).OK }

// register waits until the loop has registered one of our backends.
func (b *inbox) register(ctx context.Context, opened pool.Backend, token []byte) error {
	switch a := b.ask(ctx, ask{kind: askSession, opened: opened, token: token}); {
	case a.err != nil:
		return fmt.Errorf("register the session: %w", a.err)
	case !a.OK:
		return errors.Join(ctx.Err(), pool.ErrNotLeading)
	}
	return nil
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

func (b *inbox) take() (outcomes []run.Outcome, asks []ask) {
	b.mu.Lock()
	defer b.mu.Unlock()
	outcomes, asks = b.outcomes, b.asks
	b.outcomes, b.asks = nil, nil
	return outcomes, asks
}
