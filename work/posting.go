package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/text"
	"pgtaskd/sql"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// The ledger writes most of what happens to rows: the marks that runners wait for, the ends of tasks
// that ran well and that nothing follows, and, asked by the runners themselves, preparations. What it
// passes over comes back, and the steps that follow look closer.

// newLedger is the ledger of the loop.
func (l *loop) newLedger() *ledger.Ledger {
	return ledger.New(ledger.Config{
		Group: l.crew, Connect: l.connectLedger, Wake: l.inbox.wake,
		Queries: func() sql.Queries { return *l.runs.Queries.Load() },
		Place:   l.place.Load,
		Spare:   func() bool { return l.mayOwn.Load() && !l.runs.Pool.Short() },
	})
}

// connectLedger opens the ledger's own connection, and has it registered before it writes.
func (l *loop) connectLedger(ctx context.Context) (*pgx.Conn, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, control.ConnectLimit)
	defer cancel()
	c := control.New(l.target, nil)
	if err := c.Open(ctx); err != nil {
		return nil, nil, err
	}
	b := pool.Backend{PID: c.Facts().PID, Since: c.Facts().Since}
	_, err := c.Conn().Exec(ctx, "SET lock_timeout = '"+ledger.Patience+"'; SET synchronous_commit = off") // to prepare a statement may wait for a lock, too
	if err == nil {
		err = l.runs.Pool.Register(ctx, b, 0)
	}
	if path := l.rolePath.Load(); err == nil && path != nil {
		err = c.Follow(ctx, *path)
	}
	if err != nil {
		c.Close()
		l.runs.Pool.Leave(b)
		return nil, nil, err
	}
	return c.Conn(), func() {
		c.Close()
		l.runs.Pool.Leave(b)
	}, nil
}

// post hands the ledger what it can write, has it write that, where it does not by itself, and takes
// down what it has written.
func (l *loop) post(ctx context.Context) error {
	if entries := append(l.ends.Entries(), l.postMarks()...); len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	err := l.ledger.Step(ctx, l.control.Conn())
	if l.inbox.do(); err != nil {
		return err
	}
	return l.ends.Deletes.Step(ctx)
}

// nextPost is when the ledger is to be called.
func (l *loop) nextPost() time.Duration {
	if rest := l.ledger.Rest(); rest >= 0 {
		return rest
	}
	return never
}

// postMarks takes the marks that runners wait for out of asks, those that are like most.
func (l *loop) postMarks() (entries []*ledger.Entry) {
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind != askMark || a.passed || a.task.Row.MarkFirst {
			return false
		}
		a.task.Marks.Store(true)
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: a.task.Row.ID, Version: a.task.Row.Version, PID: a.pid, Start: l.runs.Clock.Now(),
			Exactly: a.mark.Exactly, Flush: a.mark.Guarded,
			Tell: func(answer ledger.Answer) { l.inbox.Later(func() { l.hearAsked(a, answer) }) },
		})
		return true
	})
	return entries
}

// hearAsked answers a runner that waits for a mark. What the ledger has not written is left to those
// who look closer.
func (l *loop) hearAsked(a ask, said ledger.Answer) {
	if said.Result == ledger.Taken {
		a.task.Marked = true
		a.answer <- answer{Answer: run.Answer{OK: true}}
		return
	}
	a.passed = said.Result != ledger.Withdrawn
	l.asks = append(l.asks, a)
}

// stopLedger takes back what the ledger has not written, at the end of a term. What runs wait for is
// written in the next one, unless another controller leads.
func (l *loop) stopLedger(decline bool) {
	l.ledger.Stop(decline)
	l.inbox.do()
}

// Prepare has the row show the transaction that is to commit next. It asks the ledger itself.
func (b *inbox) Prepare(ctx context.Context, t *run.Task, p run.Preparation) (run.Prepared, *text.Failure) {
	answer := make(chan ledger.Answer, 1)
	entry := &ledger.Entry{
		Kind: ledger.Prepare, ID: t.Row.ID, Version: t.Row.Version, PID: p.PID, Since: p.Since, Start: p.Start, Stop: p.Stop, Output: p.Output, Notice: p.Notice,
		Exactly: p.Exactly, Xact: p.Xact, Patient: !t.Row.Rerun, Tell: func(a ledger.Answer) { answer <- a },
	}
	if p.Claims {
		entry.Kind = ledger.Claim
	}
	b.ledger.Put(entry)
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
