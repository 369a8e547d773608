package work

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/inflight"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// ask is a question to the loop that somebody waits on: that the row of a task be marked WORK, for
// texts of it, whether we lead, or that a session be registered.
type ask struct {
	kind   askKind
	run    *run.Task
	task   *inflight.Task // the same, as the loop knows it
	text   run.Text
	pid    int32
	mark   run.Marking
	opened pool.Backend // that is to be registered, by the control session pid (0: any)
	answer chan answer  // capacity one
	passed bool         // the ledger has passed it over
}

// row is what tells the row that is asked about.
func (a ask) row() []any { return []any{a.task.Row.ID, int32(a.task.Row.Version), a.pid} }

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
	later    []func()

	ledger *ledger.Ledger
}

// Later leaves something for the loop to do.
func (b *inbox) Later(do func()) {
	b.mu.Lock()
	b.later = append(b.later, do)
	b.mu.Unlock()
	b.wake()
}

// do does what was left. The loop calls it.
func (b *inbox) do() {
	b.mu.Lock()
	later := b.later
	b.later = nil
	b.mu.Unlock()
	for _, do := range later {
		do()
	}
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
func (b *inbox) Mark(ctx context.Context, t *run.Task, m run.Marking) run.Answer {
	return b.ask(ctx, ask{kind: askMark, run: t, pid: m.PID, mark: m}).Answer
}

// Text waits for a text of the task's row, as it was read, or as the session pid was marked in it.
func (b *inbox) Text(ctx context.Context, t *run.Task, pid int32, which run.Text) run.Answer {
	return b.ask(ctx, ask{kind: askText, run: t, pid: pid, text: which}).Answer
}

// Leads waits until the loop knows that it leads.
func (b *inbox) Leads(ctx context.Context) bool { return b.ask(ctx, ask{kind: askLead}).OK }

// register waits until the loop has registered one of our backends, on that control session.
func (b *inbox) register(ctx context.Context, opened pool.Backend, leader int32) error {
	switch a := b.ask(ctx, ask{kind: askSession, opened: opened, pid: leader}); {
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

// listen takes up what the runners have said.
func (l *loop) listen(context.Context) error {
	l.hear()
	return nil
}

func (l *loop) hear() {
	outcomes, asks := l.inbox.take()
	for _, a := range asks {
		if a.run != nil {
			a.task = l.tasks.Known(a.run)
		}
		l.asks = append(l.asks, a)
	}
	for _, o := range outcomes {
		l.tally.ran(&o)
		l.disk.Seen(&o)
		l.ends.Seen(o)
	}
}

// answer sets the marks that runners wait for, and brings the texts they want.
func (l *loop) answer(ctx context.Context) error {
	if l.leads.Handed() {
		l.decline()
		return nil
	}
	var marks []ask
	asks := l.asks
	l.asks = nil
	for i, a := range asks {
		if a.kind == askMark {
			marks = append(marks, a)
			continue
		}
		err := l.bring(ctx, a)
		if fault.Of(err) == fault.Outdated {
			err = l.bring(ctx, a)
		}
		if err != nil {
			l.asks = append(marks, asks[i:]...)
			return err
		}
	}
	if len(marks) == 0 {
		return nil
	}
	left, err := l.markFirst(ctx, marks)
	l.asks = left
	return err
}

// decline answers no to the runners that wait for us: while another leads we can do nothing for
// them, and their sessions would stay.
func (l *loop) decline() {
	l.hear()
	l.stopLedger(true)
	for _, a := range l.asks {
		a.answer <- answer{}
	}
	l.asks = nil
}

func (l *loop) bring(ctx context.Context, a ask) error {
	var found answer
	var err error
	switch {
	case a.kind == askLead:
		err = l.control.Ping(ctx)
	case a.text == run.LongNames:
		found.Sizes, err = l.sizes(ctx, a)
	default:
		err = l.control.Row(ctx, "text", append(a.row(), a.text == run.LongData, l.target.LongestText()), &found.Text)
	}
	if failure := new(pgconn.PgError); fault.Of(err).OfRow() && errors.As(err, &failure) && !fault.Of(failure).OfLocks() {
		err = nil // the text cannot be read
		found.Refused = text.NewFailure(failure.Message, failure.Code)
	}
	if err != nil && err != pgx.ErrNoRows {
		return err
	}
	found.OK = err == nil
	a.answer <- found
	return nil
}
