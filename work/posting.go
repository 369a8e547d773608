package work

import (
	"context"
	"time"

	"pgtaskd/work/run"
)

// The ledger writes most of what happens to rows: the marks that runners wait for, the ends of tasks
// that ran well and that nothing follows, and, asked by the runners themselves, preparations. What it
// passes over comes back, and the steps that follow look closer.

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

// seen takes down what was seen of a run.
func (l *loop) seen(o run.Outcome) {
	l.leader.ran(&o)
	l.leader.disk.Seen(&o)
	l.ends.Seen(o)
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

func (l *loop) nextAnswer() time.Duration {
	if l.asked() {
		return 0
	}
	return l.marks.Next()
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
