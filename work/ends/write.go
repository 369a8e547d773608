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

// Step writes the ends that are to be written now. Those that cannot be written wait.
func (s *Ends) Step(ctx context.Context) error {
	if err := s.dismiss(ctx); err != nil {
		return err
	}
	began := time.Now()
	ends := s.queue.ripe(began)
	for len(ends) > 0 && !s.queue.sizer.Late(began) {
		if s.queue.due(&ends[0]).After(time.Now()) { // one before it has met a lock
			s.queue.keep(ends[0])
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
		if err != nil || size >= writeMost { // that took its time
			unwritten := func(e *End) bool { return s.Tasks[e.Task.Row.ID] == e.Known } // some may be, before the error
			s.queue.putBack(ends, unwritten)
			return err
		}
	}
	s.queue.nextTime(ends)
	return nil
}

// dismiss ends the backends that have not obeyed a cancel. Otherwise they would run until they
// write to the connection, which we have closed. A backend of another role, which we may not end,
// notices by itself that the connection is closed.
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

// writeMost is how much output one statement writes, in bytes: others wait for it.
const writeMost = 1 << 20

// writeEach writes ends of one kind. A row that takes no end at all is given up: it is reported, and
// stays as it is.
func (s *Ends) writeEach(ctx context.Context, ends []End) error {
	first := time.Now()
	return change.Bisect(ends, func(ends []End) error {
		if s.queue.sizer.Late(first) {
			s.queue.nextTime(ends)
			return nil
		}
		began := time.Now()
		err := s.writeEnds(ctx, ends)
		if s.queue.sizer.Took(len(ends), began, fault.Of(err)); ends[0].Task.TooLong && time.Since(began) > 2*hold.Turn {
			s.queue.sizer.Rest(began) // its repetition may copy what others wait for
		}
		return err
	}, func(e End, err error) error {
		switch e.refused(err) {
		case wait:
			s.queue.keep(e)
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

// writeEnds writes ends in one transaction with what follows on them. If an end could not be
// written before, writeEnds locks its row first: if the row is then passed over again, nobody else
// holds it, but a trigger of the user's leaves the end out.
func (s *Ends) writeEnds(ctx context.Context, ends []End) error {
	first, free := ends[0].backoff.Wait == 0, false
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

// statement writes ends of one kind: it ends tasks whose transactions are over, or gives tasks back.
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

// columns are the ends as the queries take them.
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

// Entries takes out the ends that the ledger can write. Those that it does not write come back.
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

// plain tells an end that is like most: its task ran well, said nothing beside its output and does not
// repeat itself, and nothing has been in the way.
func (e *End) plain() bool {
	return e.Kind == run.Finished && e.Result != nil && e.Failure() == nil && e.Result.Notice == nil &&
		e.Task.Row.Single && e.Size() <= run.HeavyFrom && e.stage == fresh && e.backoff.Wait == 0
}

// entryOf is the end as the ledger writes it.
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

// answered takes down what the ledger has made of an end.
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

// DropLate forgets ends that somebody's lock has held up for longer than patience, if nothing of
// the task is committed: the next leader runs it again.
func (s *Ends) DropLate(patience time.Duration) {
	for _, e := range s.queue.take(func(e *End) bool {
		return !e.Known.Marked && e.Xact == 0 && time.Since(e.backoff.Since) > patience
	}) {
		s.Forget(&e)
	}
}
