package mark

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/remote"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// Config has everything that Marks need.
type Config struct {
	change.Rows
	Runs  *run.Dispatcher
	Later func(func()) // makes the loop call the function; any goroutine may call it
	Doubt func()       // makes the loop check whether the rows of running tasks are still ours
}

// Marks has the marks that runners wait for.
type Marks struct {
	Config
	asks   []*ask
	looked time.Time // when Lasting last looked at the tasks
	drains bool      // all running tasks must be marked
}

// ask is a mark that a runner waits for.
type ask struct {
	run.Marking
	task   *inflight.Task
	answer chan<- run.Answer // has capacity one
	passed bool              // the ledger has passed it over
	told   bool              // the runner has its answer
}

// tell answers the runner.
func (a *ask) tell(answer run.Answer) {
	a.answer <- answer
	a.told = true
}

// New returns Marks.
func New(c Config) *Marks { return &Marks{Config: c} }

// Drain records that a drain is under way: all running tasks must be marked.
func (m *Marks) Drain() { m.drains = true }

// Ask asks for a mark before a task starts. answer must have capacity one.
func (m *Marks) Ask(t *run.Task, what run.Marking, answer chan<- run.Answer) {
	m.asks = append(m.asks, &ask{Marking: what, task: m.Tasks.Known(t), answer: answer})
}

// Asked reports whether runners wait for marks.
func (m *Marks) Asked() bool { return len(m.asks) > 0 }

// Decline answers no to all runners that wait.
func (m *Marks) Decline() {
	for _, a := range m.asks {
		a.tell(run.Answer{})
	}
	m.asks = nil
}

// When Lasting marks tasks.
const (
	lasting  = 100 * time.Millisecond // a run that lasts longer shows WORK
	tick     = 50 * time.Millisecond
	shortest = 20 * time.Millisecond // the shortest time between two looks: there may be thousands of tasks
)

// Next returns how long there is nothing to mark: not long while a running task has no mark.
func (m *Marks) Next() time.Duration {
	if m.Asked() {
		return 0
	}
	for _, t := range m.Tasks {
		if !t.Marked && !t.NoMark && !t.Ending {
			return tick
		}
	}
	return math.MaxInt64
}

// Lasting returns ledger entries for the tasks that have run for a while.
func (m *Marks) Lasting() (entries []*ledger.Entry) {
	if time.Since(m.looked) < shortest {
		return nil
	}
	m.looked = time.Now()
	now, moment := m.Runs.Clock.Now(), time.Now()
	for id, t := range m.Tasks {
		m.Runs.Profiles.Lasts(t.Task, moment)
		if t.Marked || t.NoMark || t.Ending || t.Xact() != 0 || t.Marking.After.After(moment) {
			continue
		}
		pid, start, exactly := t.Runs()
		if pid == 0 || now.Sub(start) < lasting && !m.drains {
			continue
		}
		t.Marks.Store(true)
		t.Marking.Later(hold.Locked) // no second try before that
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: id, Version: t.Row.Version, PID: pid, Start: start, Exactly: exactly,
			Tell: func(a ledger.Answer) { m.Later(func() { m.lasts(t, a) }) },
		})
	}
	return entries
}

// lasts handles the ledger's answer for a running task. If the row refuses the mark, the task goes
// on without one: it works just the same.
func (m *Marks) lasts(t *inflight.Task, a ledger.Answer) {
	switch {
	case a.Result == ledger.Taken:
		t.Marked = true
	case a.Result != ledger.Passed:
	case a.Err == nil: // somebody has locked the row, or changed it
		m.Doubt()
	case refuses(a.Err):
		m.Log.Warn().Err(a.Err).Int64("id", t.Row.ID).Msg("table refuses the mark of a task")
		t.NoMark = true
	}
}

// refuses reports whether the row itself refuses the mark, rather than another transaction.
func refuses(err error) bool { return fault.Of(err).OfRow() && !fault.Of(err).Passing() }

// Awaited returns ledger entries for most of the marks that runners wait for. Step marks a task
// that had to run again: a trigger may have kept its row as it was, and the ledger does not roll
// back its round for that.
func (m *Marks) Awaited() (entries []*ledger.Entry) {
	m.asks = slices.DeleteFunc(m.asks, func(a *ask) bool {
		if a.passed || a.task.Row.MarkFirst || m.Tries.Runs(a.task.Row.ID) > 0 {
			return false
		}
		a.task.Marks.Store(true)
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: a.task.Row.ID, Version: a.task.Row.Version, PID: a.PID, Start: m.Runs.Clock.Now(),
			Exactly: a.Exactly, Flush: a.Guarded, Awaited: true,
			Tell: func(said ledger.Answer) { m.Later(func() { m.answered(a, said) }) },
		})
		return true
	})
	return entries
}

// answered answers a runner that waits for a mark. If the ledger has not written it, Step will.
func (m *Marks) answered(a *ask, said ledger.Answer) {
	if said.Result == ledger.Taken {
		a.task.Marked = true
		a.tell(run.Answer{OK: true})
		return
	}
	a.passed = said.Result != ledger.Withdrawn
	m.asks = append(m.asks, a)
}

// Step writes the marks that the ledger has not written. If it runs out of time, the rest comes
// next time. A task whose row is locked or has changed does not start: its end waits, and gives it
// back. An error concerns the connection or the table as a whole.
func (m *Marks) Step(ctx context.Context) error {
	if !m.Asked() {
		return nil
	}
	began, some := time.Now(), false
	err := change.Bisect(m.asks, func(asks []*ask) error {
		if some && time.Since(began) >= hold.Turn {
			return nil
		}
		marked, err := m.set(ctx, asks)
		if err != nil {
			return err
		}
		for _, a := range asks {
			a.task.Marked = marked[a.task.Row.ID]
			a.tell(run.Answer{OK: a.task.Marked})
		}
		some = true
		return nil
	}, func(a *ask, err error) error {
		some = true
		return m.refused(ctx, a, err)
	})
	m.asks = slices.DeleteFunc(m.asks, func(a *ask) bool { return a.told })
	return err
}

// refused answers a runner whose row has not taken the mark. If another transaction is in the way,
// the task waits without a slot, longer each time, since there may be many.
func (m *Marks) refused(ctx context.Context, a *ask, err error) error {
	if refuses(err) && !fault.Has(err, "23505") { // the repetition may have drawn an id that was committed meanwhile
		a.tell(run.Answer{Refused: text.NewFailure("the start of the task could not be written: "+remote.Innermost(err), "55000")})
		return nil
	}
	m.Holds.PutAfter(a.task.Row.ID, hold.Unmarked, m.Tries.Runs(a.task.Row.ID))
	a.tell(run.Answer{})
	if fault.Of(err) == fault.Locked {
		return m.Changes.TellOfLock(ctx, time.Time{}, a.task.Row.ID, a.task.Row.Key)
	}
	return nil
}

// repeats reports whether the mark may need a repetition with it: with overlap it comes now.
func repeats(t *inflight.Task) bool { return t.Row.MarkFirst && !t.Row.Single }

// set marks tasks, and returns the ids whose rows show it.
func (m *Marks) set(ctx context.Context, asks []*ask) (marked map[int64]bool, err error) {
	var ids, pids, repeating []int64
	var versions []int32
	var exactly []bool
	guarded := false // one mark must be on disk before its task starts
	for _, a := range asks {
		a.task.Marks.Store(true)
		ids, pids, versions = append(ids, a.task.Row.ID), append(pids, int64(a.PID)), append(versions, int32(a.task.Row.Version))
		exactly, guarded = append(exactly, a.Exactly), guarded || a.Guarded
		if repeats(a.task) {
			repeating = append(repeating, a.task.Row.ID)
		}
	}
	err = m.Changes.Brief(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, m.Control.Queries().Text("mark"), ids, versions, pids, m.Runs.Clock.Now(), exactly, guarded)
		if err != nil {
			return err
		}
		if marked, err = markedOf(rows); err != nil {
			return err
		}
		return m.Changes.Repeat(ctx, tx, repeating)
	})
	return marked, err
}

// markedOf returns the ids whose rows show the mark. It is an error if a trigger has kept a row as
// it was, or left it out.
func markedOf(rows pgx.Rows) (ids map[int64]bool, err error) {
	ids = map[int64]bool{}
	there := 0
	var id int64
	var moved *bool
	_, err = pgx.ForEachRow(rows, []any{&id, &moved}, func() error {
		switch {
		case moved == nil:
			there++
		case *moved:
			ids[id] = true
		}
		return nil
	})
	if err == nil && there > len(ids) {
		return nil, fault.ErrKept // rolls back: all rows are as they were read
	}
	return ids, err
}
