package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Config has the parts that an Inbox needs.
type Config struct {
	Control *control.Control
	Longest int64                  // the longest text that Text reads, in bytes
	Put     func(...*ledger.Entry) // into the ledger; any goroutine may call it

	// The loop calls these.
	Seen   func(run.Outcome)
	ToMark func(t *run.Task, what run.Marking, answer chan<- run.Answer) // the answer has room for one
}

// Inbox takes messages of runners for the loop. Methods that name no caller are for runners.
type Inbox struct {
	Config
	poked chan struct{} // receives when anything is left; pokes coalesce
	asked chan struct{} // receives when a runner waits for an answer

	mu    sync.Mutex // guards left and later
	left  []func()   // for Take
	later []func()   // for Do

	// Taken out and not answered yet. They belong to the loop.
	sessions  []session
	questions []question
}

// session is a session that waits to be registered.
type session struct {
	backend pool.Backend
	leader  int32        // pid of the control session that must register it; 0: any
	answer  chan<- error // has room for one
}

// question is a question to the server, which the loop asks on the control connection.
type question struct {
	put    func(context.Context, *run.Answer) error
	answer chan<- run.Answer // has room for one
}

// New returns an empty Inbox.
func New(c Config) *Inbox {
	return &Inbox{Config: c, poked: make(chan struct{}, 1), asked: make(chan struct{}, 1)}
}

// Wake makes the loop begin a round. Any goroutine may call it.
func (b *Inbox) Wake() { poke(b.poked) }

// Poked receives when a message was left. The loop calls it.
func (b *Inbox) Poked() <-chan struct{} { return b.poked }

// Asked receives when a runner has begun to wait for an answer.
func (b *Inbox) Asked() <-chan struct{} { return b.asked }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Take handles the messages of runners. The loop calls it at the start of a round.
func (b *Inbox) Take() { b.do(&b.left) }

// Later leaves something for the loop to do. Any goroutine may call it.
func (b *Inbox) Later(do func()) { b.leave(&b.later, do) }

// Do calls the functions that Later has left. The loop calls it.
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

// ask leaves a question, and waits for the answer. ok is false if ctx ends first.
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

// Waited tells whether anybody waits for Enlist or Answer. The loop calls it.
func (b *Inbox) Waited() bool { return len(b.sessions)+len(b.questions) > 0 }

// Decline answers no to all that wait for Enlist or Answer. The loop calls it.
func (b *Inbox) Decline() {
	for _, q := range b.questions {
		q.answer <- run.Answer{}
	}
	for _, s := range b.sessions {
		s.answer <- pool.ErrNotLeading
	}
	b.sessions, b.questions = nil, nil
}

// Outcome leaves the outcome of a run.
func (b *Inbox) Outcome(o run.Outcome) {
	b.leave(&b.left, func() { b.Seen(o) })
}

// Mark waits until the row of the task shows WORK.
func (b *Inbox) Mark(ctx context.Context, t *run.Task, what run.Marking) run.Answer {
	answer, _ := ask(ctx, b, func(answer chan<- run.Answer) { b.ToMark(t, what, answer) })
	return answer
}

// Prepare writes into the row which transaction commits next, and waits for that. It asks the
// ledger directly, without the loop.
func (b *Inbox) Prepare(ctx context.Context, t *run.Task, p run.Preparation) (run.Prepared, *text.Failure) {
	answer := make(chan ledger.Answer, 1)
	entry := &ledger.Entry{
		Kind: ledger.Prepare, ID: t.Row.ID, Version: t.Row.Version, PID: p.PID, Since: p.Since, Start: p.Start, Stop: p.Stop,
		Output: p.Output, Notice: p.Notice, Exactly: p.Exactly, Xact: p.Xact, Patient: !t.Row.Rerun,
		Place: p.Place, Flush: p.Place != "",
		Tell: func(a ledger.Answer) { answer <- a },
	}
	if p.Claims {
		entry.Kind = ledger.Claim
	}
	if p.Place != "" { // unlike local sessions, this one outlives a crash here, after which the row may get this version again
		entry.Version = 0
	}
	b.Put(entry)
	select {
	case a := <-answer:
		return preparedAs[a.Result], change.Unwritten(a.Err)
	case <-ctx.Done():
		return run.Unreachable, nil
	}
}

var preparedAs = map[ledger.Result]run.Prepared{
	ledger.Taken: run.Taken, ledger.Own: run.OwnLock, ledger.Locked: run.OthersLock, ledger.Refused: run.Unprepared, ledger.Lost: run.Unreachable,
	ledger.Changed: run.Untaken, ledger.Withdrawn: run.Untaken,
}

// Enrol waits until the loop has registered one of our backends, on the control session with the
// pid leader (0: on any). Any goroutine may call it.
func (b *Inbox) Enrol(ctx context.Context, opened pool.Backend, leader int32) error {
	err, answered := ask(ctx, b, func(answer chan<- error) { b.sessions = append(b.sessions, session{opened, leader, answer}) })
	if !answered {
		return errors.Join(ctx.Err(), pool.ErrNotLeading)
	}
	return err
}

// Enlist registers the sessions that wait for it, together with the sessions that a new register
// lacks: register adds them. If the server refuses that, the tasks of these sessions wait. The loop calls it.
func (b *Inbox) Enlist(ctx context.Context, register func(context.Context, []pool.Backend) error) error {
	var opened []pool.Backend
	b.sessions = slices.DeleteFunc(b.sessions, func(s session) bool {
		old := s.leader != 0 && s.leader != b.Control.Facts().PID // its task was read in an earlier term
		if old {
			s.answer <- pool.ErrNotLeading
		} else {
			opened = append(opened, s.backend)
		}
		return old
	})
	err := register(ctx, opened)
	if err != nil {
		if !fault.Of(err).OfRow() {
			return err
		}
		err = fmt.Errorf("register the session: %w", err)
	}
	for _, s := range b.sessions {
		s.answer <- err
	}
	b.sessions = nil
	return nil
}

// Text waits for a text of the task's row. The row must still be the version that was read, or be
// marked for the session pid.
func (b *Inbox) Text(ctx context.Context, t *run.Task, pid int32, which run.Text) run.Answer {
	row := []any{t.Row.ID, int32(t.Row.Version), pid}
	return b.question(ctx, func(ctx context.Context, found *run.Answer) error {
		if which != run.LongNames {
			return b.Control.Row(ctx, "text", append(row, which == run.LongData, b.Longest), &found.Text)
		}
		s := &run.Sizes{}
		found.Sizes = s
		return b.Control.Row(ctx, "names", row, &s.Group, &s.Names[0], &s.Remote, &s.Names[1], &s.Null, &s.Names[2], &s.Input, &s.Data)
	})
}

// Leads waits until the loop has reached the server on the control connection, so it still leads.
func (b *Inbox) Leads(ctx context.Context) bool {
	return b.question(ctx, func(ctx context.Context, _ *run.Answer) error { return b.Control.Ping(ctx) }).OK
}

func (b *Inbox) question(ctx context.Context, put func(context.Context, *run.Answer) error) run.Answer {
	found, _ := ask(ctx, b, func(answer chan<- run.Answer) { b.questions = append(b.questions, question{put, answer}) })
	return found
}

// Answer asks the server the questions of runners, and passes on the answers. The loop calls it.
func (b *Inbox) Answer(ctx context.Context) error {
	for len(b.questions) > 0 {
		q := b.questions[0]
		found, err := q.ask(ctx)
		if err != nil {
			return err
		}
		q.answer <- found
		b.questions = b.questions[1:]
	}
	return nil
}

// ask asks the server. A text that the server cannot read is not an error, but the answer Refused.
func (q question) ask(ctx context.Context) (found run.Answer, err error) {
	err = q.put(ctx, &found)
	if fault.Of(err) == fault.Outdated {
		err = q.put(ctx, &found)
	}
	failure := new(pgconn.PgError)
	switch {
	case err == nil:
		found.OK = true
		return found, nil
	case err == pgx.ErrNoRows:
		return run.Answer{}, nil
	case fault.Of(err).OfRow() && errors.As(err, &failure) && !fault.Of(failure).OfLocks():
		return run.Answer{OK: true, Refused: text.NewFailure(failure.Message, failure.Code)}, nil
	}
	return run.Answer{}, err
}
