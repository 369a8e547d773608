package ends

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec"
	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Step writes the ends that are due. Ends that cannot be written wait.
func (s *Ends) Step(ctx context.Context) error {
	if err := s.dismiss(ctx); err != nil {
		return err
	}
	began := time.Now()
	ends := s.queue.ripe(began)
	for len(ends) > 0 && !s.queue.sizer.Late(began) {
		if s.queue.due(&ends[0]).After(time.Now()) { // an end before this one has met a lock
			s.queue.setAside(ends[0])
			ends = ends[1:]
			continue
		}
		n, size := 1, ends[0].Size()
		for n < len(ends) && n < s.queue.togetherMost(&ends[0], &ends[n]) && size < writeMost {
			size += ends[n].Size()
			n++
		}
		err := s.writeEach(ctx, ends[:n])
		if err == nil {
			ends = ends[n:]
		}
		if err != nil || size >= writeMost { // a large statement has taken long enough
			// Some may have been written before the error.
			unwritten := func(e *End) bool { return s.Tasks[e.Task.Row.ID] == e.Known }
			s.queue.putBack(ends, unwritten)
			return err
		}
	}
	s.queue.postpone(ends)
	return nil
}

// dismiss ends the backends that did not obey a cancel. Otherwise they would run until they write
// to the connection, which we have closed. We may not end a backend of another role: it notices by
// itself that the connection is closed.
func (s *Ends) dismiss(ctx context.Context) error {
	if len(s.stay) == 0 {
		return nil
	}
	pids, since := pool.Columns(s.stay)
	_, err := s.Control.Exec(ctx, "dismiss", pids, since)
	if err == nil {
		s.stay = nil
	}
	return err
}

// writeMost limits the output that one statement writes, in bytes: others wait for it.
const writeMost = 1 << 20

// writeEach writes ends of one kind. If a row takes no end at all, writeEach logs that and leaves
// the row as it is.
func (s *Ends) writeEach(ctx context.Context, ends []End) error {
	first := time.Now()
	return change.Bisect(ends, func(ends []End) error {
		if s.queue.sizer.Late(first) {
			s.queue.postpone(ends)
			return nil
		}
		began := time.Now()
		err := s.writeEnds(ctx, ends)
		if s.queue.sizer.Took(len(ends), began, fault.Of(err)); ends[0].Task.TooLong && time.Since(began) > 2*hold.Turn {
			s.queue.sizer.Rest(began) // the repetition may copy large texts
		}
		return err
	}, func(e End, err error) error {
		switch e.refused(err) {
		case wait:
			s.queue.setAside(e)
			if fault.Of(err) == fault.Locked {
				return s.tellOfLock(ctx, &e)
			}
		case again:
			s.tellLess(&e, err)
			return s.writeEach(ctx, []End{e})
		default:
			s.leaveAlone(&e, err)
		}
		return nil
	})
}

// writeEnds writes ends and what follows on them in one transaction. If an end could not be written
// before, writeEnds locks its row first: if the row is passed over again, it is not because of a
// lock, but because a user's trigger leaves the end out.
func (s *Ends) writeEnds(ctx context.Context, ends []End) error {
	first, free := !ends[0].hasFailed(), false
	query, args := statement(ends)
	var some []change.Changed
	err := s.Changes.Brief(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if !first {
			err = tx.QueryRow(ctx, s.Control.Queries().Text("unlocked"), ends[0].Task.Row.ID).Scan(&free)
		}
		if err == nil {
			some, err = s.Changes.WithWhatFollows(ctx, tx, first, query, args...)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.settle(ctx, ends, some, free)
}

// statement returns the statement for ends of one kind: it ends tasks, or gives them back.
func statement(ends []End) (query string, args []any) {
	c := newColumns(ends)
	if ends[0].Kind != run.Released {
		return "finish", []any{
			c.ids, c.versions, c.pids, c.done, c.starts, c.stops, c.outputs, c.errors,
			c.sqlstates, c.notices, c.exactly, c.last, c.keeps, c.xacts, c.pauses, c.cancelled,
		}
	}
	causes := make([]string, len(ends))
	for i, e := range ends {
		c.pauses[i] = pgtype.Interval{Microseconds: e.Delay.Microseconds(), Valid: e.Delay > 0}
		if c.errors[i], c.sqlstates[i] = nil, nil; e.Delay > 0 {
			c.errors[i], c.sqlstates[i] = e.shown(e.Fault)
		}
		switch {
		case e.Result != nil && e.Result.Reason == exec.Drained:
			causes[i] = "drained"
		case e.Result != nil && e.crossed:
			causes[i] = "conflict"
		default:
			c.starts[i], c.stops[i] = nil, nil
		}
	}
	return "release", []any{c.ids, c.versions, c.pids, c.pauses, c.errors, c.sqlstates, c.starts, c.stops, c.xacts, causes}
}

// columns are the parameters of the statements.
type columns struct {
	ids, pids                             []int64
	versions                              []int32
	done, exactly, last, keeps, cancelled []bool
	starts, stops                         []*time.Time
	outputs, errors, sqlstates, notices   []*string
	xacts                                 []*int64
	pauses                                []pgtype.Interval
}

func newColumns(ends []End) *columns {
	c := &columns{}
	for i := range ends {
		e := &ends[i]
		c.ids, c.versions = append(c.ids, e.Task.Row.ID), append(c.versions, int32(e.readVersion()))
		c.pids, c.exactly = append(c.pids, int64(e.PID)), append(c.exactly, e.Exactly)
		start := e.begun()
		c.starts, c.stops = append(c.starts, &start), append(c.stops, &e.Stop)
		c.done, c.last = append(c.done, e.Failure() == nil), append(c.last, e.noRetry())
		c.keeps, c.pauses = append(c.keeps, e.keeps()), append(c.pauses, e.pause())
		c.cancelled = append(c.cancelled, e.Kind == run.Stopped)
		output, notice := e.told()
		c.outputs, c.notices = append(c.outputs, output), append(c.notices, notice)
		text, sqlstate := e.shown(e.Failure())
		c.errors, c.sqlstates = append(c.errors, text), append(c.sqlstates, sqlstate)
		var xact *int64
		if e.Xact != 0 {
			xact = &e.Xact
		}
		c.xacts = append(c.xacts, xact)
	}
	return c
}

// Entries takes out the ends that the ledger can write. Ends that it passes over come back.
func (s *Ends) Entries() (entries []*ledger.Entry) {
	s.queue.fresh = slices.DeleteFunc(s.queue.fresh, func(e End) bool {
		if !e.plain() {
			return false
		}
		entries = append(entries, s.entryOf(e))
		return true
	})
	return entries
}

// plain reports whether an end is like most: the run was good, gave no notice, nothing was in the
// way, and the task does not repeat itself.
func (e *End) plain() bool {
	return e.Kind == run.Finished && e.Result != nil && e.Failure() == nil && e.Result.Notice == nil &&
		e.Task.Row.Single && e.Size() <= run.HeavyFrom && e.stage == fresh && !e.hasFailed()
}

// entryOf makes a ledger entry of an end.
func (s *Ends) entryOf(e End) *ledger.Entry {
	entry := &ledger.Entry{
		Kind: ledger.Done, ID: e.Task.Row.ID, Version: e.readVersion(), PID: e.PID, Start: e.begun(), Stop: e.Stop,
		Exactly: e.Exactly, Xact: e.Xact, Tell: func(a ledger.Answer) { s.Later(func() { s.answered(&e, a) }) },
	}
	if entry.Output, entry.Notice = e.told(); e.Shed {
		entry.Kind = ledger.Settle
	}
	return entry
}

// answered handles the ledger's answer to an end.
func (s *Ends) answered(e *End, a ledger.Answer) {
	switch a.Result {
	case ledger.Taken:
		id := e.Task.Row.ID
		if s.Tries.Forget(id); a.Empty {
			s.Deletes.Add(id)
		}
		s.Ended(e, "DONE")
		s.Forget(e)
		return
	case ledger.Withdrawn:
	default:
		e.stage = passed
	}
	s.queue.add(*e)
}

// DropLate forgets ends that a lock has delayed for longer than patience, if the task has committed
// nothing: the next leader runs it again.
func (s *Ends) DropLate(patience time.Duration) {
	for _, e := range s.queue.take(func(e *End) bool {
		return !e.Known.Marked && e.Xact == 0 && time.Since(e.backoff.Since) > patience
	}) {
		s.Forget(&e)
	}
}
