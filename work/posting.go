package work

import (
	"context"

	"pgtaskd/sql"
	"pgtaskd/work/ledger"
)

// The ledger writes most of what happens to rows: the marks that runners wait for, the ends of tasks
// that ran well and that nothing follows, and, asked by the runners themselves, preparations. What it
// passes over comes back, and the steps that follow look closer.

// newLedger is the ledger of the loop.
func (l *loop) newLedger() *ledger.Ledger {
	return ledger.New(ledger.Config{
		Group: l.crew, Target: l.target, Pool: l.runs.Pool, Wake: l.inbox.Wake,
		Queries: func() sql.Queries { return *l.queries.Load() },
	})
}

// post hands the ledger what it can write, has it write that, where it does not by itself, and takes
// down what it has written.
func (l *loop) post(ctx context.Context) error {
	entries := append(l.marks.Lasting(), l.ends.Entries()...)
	if entries = append(entries, l.marks.Awaited()...); len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	err := l.ledger.Step(ctx, l.control.Conn())
	if l.inbox.Do(); err != nil {
		return err
	}
	return l.ends.Deletes.Step(ctx)
}

// answer answers the questions of runners, and sets the marks that they wait for. After a handover it
// answers no; the ledger goes on for what still runs.
func (l *loop) answer(ctx context.Context) error {
	if l.leads.Handed {
		l.inbox.Decline()
		l.marks.Decline()
		return nil
	}
	if err := l.inbox.Answer(ctx); err != nil {
		return err
	}
	return l.marks.Step(ctx)
}

// asked tells whether runners wait for us.
func (l *loop) asked() bool { return l.inbox.Waited() || l.marks.Asked() }

// decline answers no to them: while another leads we can do nothing for them, and their sessions
// would stay.
func (l *loop) decline() {
	l.inbox.Take()
	l.stopLedger(true)
	l.inbox.Decline()
	l.marks.Decline()
}

// stopLedger takes back what the ledger has not written, at the end of a term. What runs wait for is
// written in the next one, unless another controller leads.
func (l *loop) stopLedger(decline bool) {
	l.ledger.Stop(decline)
	l.inbox.Do()
}
