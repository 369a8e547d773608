package judge

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Judge judges tasks that are under way but not run by us: runs whose session is lost, and tasks of
// an old leader. Its Watch looks after our own runs.
type Judge struct {
	*cutter
	Lost    *Lost
	Orphans *Orphans
	Watch   *Watch
	looked  time.Time
}

// New returns a Judge without tasks.
func New(c Config) *Judge {
	cut := &cutter{Config: c}
	cut.away = &Away{cutter: cut, asked: map[string]*inquiry{}, verdicts: map[int64]verdict{}}
	return &Judge{
		cutter:  cut,
		Lost:    &Lost{cutter: cut, runs: map[int64]run.Outcome{}},
		Orphans: &Orphans{cutter: cut, all: map[int64]*orphan{}},
		Watch:   &Watch{cutter: cut},
	}
}

// Begin begins a term. now is the server's time.
func (j *Judge) Begin(now time.Time) {
	j.began, j.looked = now, time.Time{}
	clear(j.away.verdicts)
	clear(j.away.asked)
	*j.Watch = Watch{cutter: j.cutter}
}

// Next returns how long to wait before the next Step.
func (j *Judge) Next() time.Duration {
	if len(j.Lost.runs)+j.Orphans.Len() > 0 {
		return tick - time.Since(j.looked)
	}
	return hold.Never
}

// Step judges everything that can be judged now.
func (j *Judge) Step(ctx context.Context) error {
	j.looked = time.Now()
	if err := j.Lost.judge(ctx); err != nil {
		return err
	}
	return j.Orphans.judge(ctx)
}

// Startable returns those of the tasks just read that may start. It leaves out orphans, and ends
// tasks at which a runner has panicked.
func (j *Judge) Startable(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
	panicked := map[int64]run.Outcome{}
	var ids []int64
	tasks = slices.DeleteFunc(tasks, func(t *run.Task) bool {
		id := t.Row.ID
		if j.Panics.has(id) {
			ids, panicked[id] = append(ids, id), run.Outcome{Task: t, PID: math.MaxInt32, Start: j.Runs.Clock.Now()}
			return true
		}
		return j.Orphans.all[id] != nil
	})
	_, _, err := j.cut(ctx, ids, panicked)
	return tasks, err
}

const (
	watchTick = 20 * time.Millisecond  // between two looks, even if many notifications come
	watchLate = 100 * time.Millisecond // the longest time that a look waits for other news
)

// Watch cancels our tasks if somebody has set their rows to STOP, changed or deleted them.
type Watch struct {
	*cutter
	looked  time.Time
	doubted time.Time // when a row may have been changed; zero: no news
}

// Doubt records that somebody may have changed rows.
func (w *Watch) Doubt() {
	if w.doubted.IsZero() {
		w.doubted = time.Now()
	}
}

// Next returns how long to wait before the next Step, while tasks run.
func (w *Watch) Next() time.Duration {
	if busy, _, _ := w.Runs.Lanes.Load(); busy > 0 {
		return w.rest()
	}
	return hold.Never
}

// rest returns how long the next look waits. Rows that were there before a STOP decide which task
// follows: the loop reads them first, unless that takes long.
func (w *Watch) rest() time.Duration {
	passed := time.Since(w.looked)
	d := w.Live.Load().Sleep - passed
	if !w.doubted.IsZero() {
		told := time.Duration(0)
		if w.Pending() {
			told = watchLate - time.Since(w.doubted)
		}
		d = min(d, told)
	}
	return max(d, watchTick-passed)
}

// Step looks at the rows of all our tasks, if it is time.
func (w *Watch) Step(ctx context.Context) error {
	if len(w.Tasks) == 0 || w.rest() > 0 {
		return nil
	}
	w.looked, w.doubted = time.Now(), time.Time{}
	var claims []inflight.Claim
	for _, t := range w.Tasks {
		if !t.Ending {
			pid, _, _ := t.Runs()
			claims = append(claims, inflight.ClaimOf(t, pid))
		}
	}
	standings, err := inflight.Standings(ctx, w.Control, claims)
	if err != nil {
		return err
	}
	for _, c := range claims {
		t, s := w.Tasks[c.ID], standings[c.ID]
		switch {
		case s.Ours && s.Recalls: // cancels the SQL if it still runs; otherwise it is too late
			t.Cancel(exec.Stopped)
		case s.Ours, s.State == "WORK" && t.Marks.Load():
		case t.Xact() != c.Xact: // it was prepared meanwhile: look again
			w.Doubt()
		case w.Runs.Lanes.Drop(t.Task):
			delete(w.Tasks, c.ID)
			w.Changes.Want()
		default:
			t.Cancel(exec.Stopped)
		}
	}
	return nil
}

// Config has everything that a Judge needs.
type Config struct {
	change.Rows
	Live   *atomic.Pointer[target.Live] // Sleep: time between two looks of Watch if nothing reports a change
	Runs   *run.Dispatcher
	Panics *Panics
	Prefix string         // of the application_name of the target's sessions
	Place  func() *string // where our transactions are, as in xact_at; nil: unknown

	Later   func(func())           // makes the loop call the function; any goroutine may call it
	Partial func() bool            // scans have not yet shown all rows that are due or under way
	Pending func() bool            // rows that have become due have not been read yet
	Ended   func([]change.Changed) // these rows show their ends, or PLAN
	Over    func(run.Outcome)      // a task of ours is over: its row was judged
	Write   func(run.Outcome)      // the end of a task of ours must be written
}

// cutter judges the rows of runs that were cut off.
type cutter struct {
	Config
	away  *Away
	began time.Time // start of the term, by the server's clock
}

// cut judges tasks that were cut off or stopped, if it is certain that they run no more. The
// backends of tasks in lost are known to be gone. cut had no time for the tasks in left, or a remote
// has not told yet how they have ended.
func (c *cutter) cut(
	ctx context.Context, ids []int64, lost map[int64]run.Outcome,
) (done map[int64]bool, left []int64, err error) {
	done = map[int64]bool{}
	if len(ids) == 0 {
		return done, nil, nil
	}
	ids, waiting, err := c.away.split(ctx, ids)
	if err != nil {
		return done, nil, err
	}
	left, err = c.Changes.EachWithWords(ctx, ids, func(ids []int64, mute bool) error {
		gone, starts, versions := make([]int64, len(ids)), make([]*time.Time, len(ids)), make([]int32, len(ids))
		for i, id := range ids {
			if o, known := lost[id]; known {
				gone[i], starts[i], versions[i] = int64(o.PID), &o.Start, int32(o.Task.Row.Version)
			}
		}
		xacts, statuses, reasons := c.away.columns(ids)
		some, err := c.Changes.Tasks(ctx, "cut", ids, gone, starts, versions, c.Panics.all(), mute, c.Runs.Pool.PIDs(), c.Place(),
			xacts, statuses, reasons)
		if err != nil {
			return err
		}
		for _, one := range some {
			done[one.ID] = true
		}
		c.Ended(some)
		return nil
	})
	if err == nil {
		for id := range done {
			c.Panics.forget(id)
			delete(c.away.verdicts, id)
		}
	}
	if len(done) > 0 {
		c.Log.Warn().Int("tasks", len(done)).Msg("found interrupted tasks")
	}
	return done, append(left, waiting...), err
}

// Panics has the ids of tasks at which a runner of this controller has panicked. They do not run
// again. Panics outlasts the loop that a panic ends. Any goroutine may use it.
type Panics struct{ ids sync.Map }

// Blame adds a task.
func (p *Panics) Blame(id int64) { p.ids.Store(id, true) }

// Clear forgets all tasks: another controller leads, and judges their rows.
func (p *Panics) Clear() { p.ids.Clear() }

func (p *Panics) has(id int64) bool {
	_, is := p.ids.Load(id)
	return is
}

func (p *Panics) forget(id int64) { p.ids.Delete(id) }

// all returns the ids. It never returns nil: the result is a parameter of a statement.
func (p *Panics) all() []int64 {
	ids := []int64{}
	p.ids.Range(func(id, _ any) bool {
		ids = append(ids, id.(int64))
		return true
	})
	return ids
}
