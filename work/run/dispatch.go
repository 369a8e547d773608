package run

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec/text"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is what runners work with. It belongs to the leader, who shares it.
type Config struct {
	Target *target.Target
	Live   *atomic.Pointer[target.Live] // its settings, which may change while tasks run
	Leader Leader
	Group  *routine.Group // all goroutines of the target
	Lanes  *lane.Lanes[*Task]
	Pool   *pool.Pool
	Clock  *Clock
	Log    zerolog.Logger
	Blame  func(id int64) // takes note of a task at which a runner has panicked
}

// Dispatcher starts runners, and is what they share. Any goroutine may use it, but Dispatch is the
// leader's.
type Dispatcher struct {
	Config
	Profiles  Profiles
	pipelines sync.Map  // those of the runners that are at work
	searched  time.Time // when Dispatch looked at all lanes

	// The leader sets them.
	Superuser atomic.Bool // the target's role is one
	Foreign   atomic.Bool // there are foreign servers: what writes through them has no transaction id here
}

// New returns one that has started nothing.
func New(c Config) *Dispatcher {
	return &Dispatcher{Config: c, Profiles: Profiles{all: map[like]*profile{}}}
}

// All lanes are looked at so often, for so long at most, or as long as one search takes.
const (
	searchTick = 100 * time.Millisecond
	searchMost = 10 * time.Millisecond
)

// Dispatch starts a runner for each task that may start, as far as there are sessions. Where the
// tasks that come first wait for a session, others do not wait for them: from time to time it looks
// at all lanes.
func (d *Dispatcher) Dispatch() {
	fits := func(t *Task) bool { return !d.Profiles.crowded(t) && d.servable(t) }
	for t := d.Lanes.Tryout(fits); t != nil; t = d.Lanes.Tryout(fits) {
		d.launch(t)
	}
	for t := d.Lanes.Start(false, fits); t != nil; t = d.Lanes.Start(false, fits) {
		d.launch(t)
	}
	if time.Since(d.searched) < searchTick {
		return
	}
	d.searched = time.Now()
	for t := d.Lanes.Start(true, fits); t != nil; t = d.Lanes.Start(true, fits) {
		d.launch(t)
		if time.Since(d.searched) >= searchMost {
			return
		}
	}
}

// launch starts a runner for the task.
func (d *Dispatcher) launch(t *Task) {
	d.Profiles.joins(t)
	d.Group.Go(func() {
		r := newRunner(d)
		d.pipelines.Store(&r.pipeline, nil)
		defer d.pipelines.Delete(&r.pipeline)
		r.serve(d.Group.Context(), t)
	})
}

// Behind is how many tasks are with the server after others.
func (d *Dispatcher) Behind() (n int) {
	for p := range d.pipelines.Range {
		n += p.(*pipeline).count()
	}
	return n
}

// CallBack gives back to the lanes what will not begin any more because what is before it lasts.
func (d *Dispatcher) CallBack() {
	for p := range d.pipelines.Range {
		for _, t := range p.(*pipeline).back(true) {
			d.Leader.Outcome(Outcome{Task: t, Kind: Released})
		}
	}
}

// prepare has the row show the transaction in which the run's effects are. The failure tells why
// the table refuses it.
func (d *Dispatcher) prepare(t *Task, p Preparation) (Prepared, *text.Failure) {
	t.xact.Store(p.Xact)
	answer, refused := d.Leader.Prepare(d.Group.Context(), t, p)
	if answer != Taken && answer != Unreachable {
		t.xact.Store(0)
	}
	return answer, refused
}
