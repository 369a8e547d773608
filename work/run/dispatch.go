package run

import (
	"sync"
	"time"
)

// Dispatcher starts runners. Any goroutine may use it, but Dispatch is the leader's.
type Dispatcher struct {
	Shared
	pipelines sync.Map  // those of the runners that are at work
	searched  time.Time // when Dispatch looked at all lanes
}

// New returns one that has started nothing.
func New(c Config) *Dispatcher {
	return &Dispatcher{Shared: Shared{Config: c, Profiles: Profiles{all: map[like]*profile{}}}}
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
		r := newRunner(&d.Shared)
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
			d.tell(Outcome{Task: t, Kind: Released})
		}
	}
}
