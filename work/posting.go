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
	"pgtaskd/work/inflight"
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
		Queries: func() sql.Queries { return *l.Queries.Load() },
		Place:   l.place.Load,
		Spare:   func() bool { return l.mayOwn.Load() && !l.Pool.Short() },
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
		err = l.Pool.Register(ctx, b, 0)
	}
	if path := l.rolePath.Load(); err == nil && path != nil {
		err = c.Follow(ctx, *path)
	}
	if err != nil {
		c.Close()
		l.Pool.Leave(b)
		return nil, nil, err
	}
	return c.Conn(), func() {
		c.Close()
		l.Pool.Leave(b)
	}, nil
}

// report is what became of an entry of the ledger's that is the loop's.
type report struct {
	end    *end           // what it writes,
	ask    *ask           // or that mark,
	run    *inflight.Task // or that of a task that runs
	answer ledger.Answer
}

// post hands the ledger what it can write, has it write that, where it does not by itself, and takes
// down what it has written.
func (l *loop) post(ctx context.Context) error {
	entries := append(l.postEnds(), l.postMarks()...)
	if len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	err := l.ledger.Step(ctx, l.control.Conn())
	if empty := l.hearLedger(); err == nil {
		err = l.delete(ctx, empty)
	} else {
		l.empty = append(l.empty, empty...)
	}
	return err
}

// nextPost is when the ledger is to be called.
func (l *loop) nextPost() time.Duration {
	if rest := l.ledger.Rest(); rest >= 0 {
		return rest
	}
	return never
}

// postEnds takes the ends out of unsaid that the ledger can write.
func (l *loop) postEnds() (entries []*ledger.Entry) {
	l.unsaid = slices.DeleteFunc(l.unsaid, func(e end) bool {
		if !e.plain() || l.tasks[e.task.Row.ID] != e.task {
			return false
		}
		entries = append(entries, l.entryOf(e))
		return true
	})
	return entries
}

// plain tells an end that is like most: of a task that ran well, said nothing beside its output and
// does not repeat itself, and that nothing has stood in the way of.
func (e *end) plain() bool {
	return e.Kind == run.Finished && e.Result != nil && e.failure() == nil && e.Result.Notice == nil &&
		e.task.Row.Single && e.Size() <= run.HeavyFrom && e.lessened == 0 && !e.passed && e.backoff.Wait == 0
}

// entryOf is the end as the ledger writes it.
func (l *loop) entryOf(e end) *ledger.Entry {
	entry := &ledger.Entry{
		Kind: ledger.Done, ID: e.task.Row.ID, Version: e.readVersion(), PID: e.PID, Start: e.begun(), Stop: e.Stop, Exactly: e.exactly(), Xact: e.Xact,
		Tell: func(a ledger.Answer) { l.inbox.report(report{end: &e, answer: a}) },
	}
	if entry.Output, entry.Notice = e.told(); e.Shed {
		entry.Kind = ledger.Settle
	}
	return entry
}

// postMarks takes the marks that runners wait for out of asks, those that are like most.
func (l *loop) postMarks() (entries []*ledger.Entry) {
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind != askMark || a.passed || a.task.Row.MarkFirst {
			return false
		}
		a.task.Marks.Store(true)
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: a.task.Row.ID, Version: a.task.Row.Version, PID: a.pid, Start: l.Clock.Now(),
			Exactly: a.task.Once(), Flush: a.task.Guarded(),
			Tell: func(answer ledger.Answer) { l.inbox.report(report{ask: &a, answer: answer}) },
		})
		return true
	})
	return entries
}

// hearLedger takes down what the ledger has written, and returns the tasks that are to be deleted.
// What it has not written is left to those who look closer.
func (l *loop) hearLedger() (empty []int64) {
	reports := l.inbox.takeReports()
	for _, r := range reports {
		switch taken := r.answer.Result == ledger.Taken; {
		case r.run != nil:
			l.hearMark(r.run, r.answer)
		case r.ask != nil && taken:
			r.ask.task.Marked = true
			r.ask.answer <- answer{Answer: run.Answer{OK: true}}
		case r.ask != nil:
			r.ask.passed = r.answer.Result != ledger.Withdrawn
			l.asks = append(l.asks, *r.ask)
		case taken:
			if l.tries.Forget(r.end.task.Row.ID); r.answer.Empty {
				empty = append(empty, r.end.task.Row.ID)
			}
			l.ended(*r.end, "DONE")
			l.gone(*r.end)
		default:
			r.end.passed = r.answer.Result != ledger.Withdrawn
			l.unsaid = append(l.unsaid, *r.end)
		}
	}
	return empty
}

// stopLedger takes back what the ledger has not written, at the end of a term. What runs wait for is
// written in the next one, unless another controller leads.
func (l *loop) stopLedger(decline bool) {
	l.ledger.Stop(decline)
	l.empty = append(l.empty, l.hearLedger()...)
}

// Prepare has the row show the transaction that is to commit next. It asks the ledger itself.
func (b *inbox) Prepare(ctx context.Context, t *run.Task, p run.Preparation) (run.Prepared, *text.Failure) {
	answer := make(chan ledger.Answer, 1)
	entry := &ledger.Entry{
		Kind: ledger.Prepare, ID: t.Row.ID, Version: t.Row.Version, PID: p.PID, Since: p.Since, Start: p.Start, Stop: p.Stop, Output: p.Output, Notice: p.Notice,
		Exactly: t.Once(), Xact: p.Xact, Patient: !t.Row.Rerun, Tell: func(a ledger.Answer) { answer <- a },
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
