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
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Config is what Marks work with.
type Config struct {
	Control  *control.Control
	Changes  *change.Changer
	Holds    *hold.Holds
	Tries    *hold.Tries
	Tasks    inflight.Tasks
	Log      *target.Log
	Clock    *run.Clock
	Profiles *run.Profiles
	Later    func(func()) // has the loop do something; any goroutine may call it
	Doubt    func()       // has the loop look whether the rows of what runs are still ours
	Drains   func() bool  // all that runs is to be marked
}

// Marks are those that are not written yet.
type Marks struct {
	Config
	asks   []*ask
	looked time.Time // when Lasting has looked at the tasks last
}

// ask is a mark that a runner waits for.
type ask struct {
	run.Marking
	task   *inflight.Task
	answer chan<- run.Answer // has room for one
	passed bool              // the ledger has passed it over
	told   bool              // the runner waits no longer
}

// tell answers the runner.
func (a *ask) tell(answer run.Answer) {
	a.answer <- answer
	a.told = true
}

// New returns Marks.
func New(c Config) *Marks { return &Marks{Config: c} }

// Ask has a task marked before it starts. The answer has room for one.
func (m *Marks) Ask(t *run.Task, what run.Marking, answer chan<- run.Answer) {
	m.asks = append(m.asks, &ask{Marking: what, task: m.Tasks.Known(t), answer: answer})
}

// Asked tells whether runners wait for marks.
func (m *Marks) Asked() bool { return len(m.asks) > 0 }

// Decline answers no to the runners that wait.
func (m *Marks) Decline() {
	for _, a := range m.asks {
		a.tell(run.Answer{})
	}
	m.asks = nil
}

// When a task is marked that nobody has asked for.
const (
	lasting  = 100 * time.Millisecond // a run that lasts longer shows WORK
	tick     = 50 * time.Millisecond
	shortest = 20 * time.Millisecond // between two looks: there may be thousands of tasks
)

// Next is how long nothing is to be marked: a moment while a task runs whose row does not show it.
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

// Lasting are entries for the tasks that have been running for a while.
func (m *Marks) Lasting() (entries []*ledger.Entry) {
	if time.Since(m.looked) < shortest {
		return nil
	}
	m.looked = time.Now()
	now, moment := m.Clock.Now(), time.Now()
	for id, t := range m.Tasks {
		m.Profiles.Lasts(t.Task, moment)
		if t.Marked || t.NoMark || t.Ending || t.Xact() != 0 || t.Marking.After.After(moment) {
			continue
		}
		pid, start, exactly := t.Runs()
		if pid == 0 || now.Sub(start) < lasting && !m.Drains() {
			continue
		}
		t.Marks.Store(true)
		t.Marking.Later(hold.Locked) // unless it is set by then
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: id, Version: t.Row.Version, PID: pid, Start: start, Exactly: exactly,
			Tell: func(a ledger.Answer) { m.Later(func() { m.lasts(t, a) }) },
		})
	}
	return entries
}

// lasts takes down whether the row of a task that runs shows that. One that refuses it is left
// without: what its task does is not the worse for that.
func (m *Marks) lasts(t *inflight.Task, a ledger.Answer) {
	switch {
	case a.Result == ledger.Taken:
		t.Marked = true
	case a.Result != ledger.Passed:
	case a.Err == nil: // somebody has locked it, or changed it
		m.Doubt()
	case refuses(a.Err):
		m.Log.Warn().Err(a.Err).Int64("id", t.Row.ID).Msg("table refuses the mark of a task")
		t.NoMark = true
	}
}

// refuses tells that a row does not take the mark, and nobody is in the way.
func refuses(err error) bool { return fault.Of(err).OfRow() && !fault.Of(err).Passing() }

// Awaited are entries for the marks that runners wait for, of those that are like most. A task that had
// to run again is left to Step: a trigger may have kept its row as it was, and what the ledger writes
// beside others is not taken back for that.
func (m *Marks) Awaited() (entries []*ledger.Entry) {
	m.asks = slices.DeleteFunc(m.asks, func(a *ask) bool {
		if a.passed || a.task.Row.MarkFirst || m.Tries.Runs(a.task.Row.ID) > 0 {
			return false
		}
		a.task.Marks.Store(true)
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: a.task.Row.ID, Version: a.task.Row.Version, PID: a.PID, Start: m.Clock.Now(),
			Exactly: a.Exactly, Flush: a.Guarded,
			Tell: func(said ledger.Answer) { m.Later(func() { m.answered(a, said) }) },
		})
		return true
	})
	return entries
}

// answered answers a runner that waits for a mark. What the ledger has not written is left to Step.
func (m *Marks) answered(a *ask, said ledger.Answer) {
	if said.Result == ledger.Taken {
		a.task.Marked = true
		a.tell(run.Answer{OK: true})
		return
	}
	a.passed = said.Result != ledger.Withdrawn
	m.asks = append(m.asks, a)
}

// Step marks the tasks whose runners still wait for it. Those that it has no time for come next time.
// One whose row somebody has locked, or has changed, does not start: its end waits, and gives it back.
// The error is one of the connection, or of the table as a whole.
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

// refused answers that a row has not taken the mark. Where another transaction is in the way its task
// waits, without a place: each time for longer, since there may be many.
func (m *Marks) refused(ctx context.Context, a *ask, err error) error {
	if refuses(err) && !fault.Has(err, "23505") { // its repetition may have met an id that was committed meanwhile
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

// repeats tells that a repetition may have to be written with the mark: with overlap it comes now.
func repeats(t *inflight.Task) bool { return t.Row.MarkFirst && !t.Row.Single }

// set marks tasks, and returns those whose rows show it.
func (m *Marks) set(ctx context.Context, asks []*ask) (marked map[int64]bool, err error) {
	var ids, pids, repeating []int64
	var versions []int32
	var exactly []bool
	guarded := false // one of them must be on the disk before its task starts
	for _, a := range asks {
		a.task.Marks.Store(true)
		ids, pids, versions = append(ids, a.task.Row.ID), append(pids, int64(a.PID)), append(versions, int32(a.task.Row.Version))
		exactly, guarded = append(exactly, a.Exactly), guarded || a.Guarded
		if repeats(a.task) {
			repeating = append(repeating, a.task.Row.ID)
		}
	}
	err = m.Changes.Brief(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, m.Control.Queries().Text("mark"), ids, versions, pids, m.Clock.Now(), exactly, guarded)
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

// markedOf are the rows that show the mark; an error where a trigger has kept one as it was, or has
// left it out.
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
		return nil, fault.ErrKept // it is rolled back: the row is as it was read
	}
	return ids, err
}
