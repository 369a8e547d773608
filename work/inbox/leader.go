package inbox

import (
	"context"

	"pgtaskd/exec/text"
	"pgtaskd/work/change"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// Outcome leaves what was seen of a task.
func (b *Inbox) Outcome(o run.Outcome) {
	b.leave(&b.left, func() { b.Seen(o) })
}

// Mark waits until the row of the task shows WORK.
func (b *Inbox) Mark(ctx context.Context, t *run.Task, what run.Marking) run.Answer {
	answer, _ := ask(ctx, b, func(answer chan<- run.Answer) { b.ToMark(t, what, answer) })
	return answer
}

// Prepare has the row show the transaction that is to commit next. It asks the ledger itself.
func (b *Inbox) Prepare(ctx context.Context, t *run.Task, p run.Preparation) (run.Prepared, *text.Failure) {
	answer := make(chan ledger.Answer, 1)
	entry := &ledger.Entry{
		Kind: ledger.Prepare, ID: t.Row.ID, Version: t.Row.Version, PID: p.PID, Since: p.Since, Start: p.Start, Stop: p.Stop,
		Output: p.Output, Notice: p.Notice, Exactly: p.Exactly, Xact: p.Xact, Patient: !t.Row.Rerun,
		Tell: func(a ledger.Answer) { answer <- a },
	}
	if p.Claims {
		entry.Kind = ledger.Claim
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
