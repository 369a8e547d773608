package conf

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// supervisor compares the wanted targets with those that are served. Its fields belong to the
// goroutine that called Run.
type supervisor struct {
	log     zerolog.Logger
	options Options
	path    string
	seen    string // the last content of the file, or the error of reading it
	stamp   string // of its token files, then
	http    HTTP   // of the last file that could be served

	slots map[string]*slot // by identity of the target
	ended chan string      // identities whose loop has ended
	crew  *routine.Group   // the loops

	tasks *target.TaskLog // for all loops
}

// slot runs the loop of one table: never two at a time.
type slot struct {
	wanted   *work.Target    // nil: none
	served   work.Target     // the settings of the running loop
	changes  *target.Changes // passes changes to the running loop
	stop     chan struct{}   // ends the running loop; nil: no loop runs
	draining bool            // stop is closed
	stats    *target.Stats   // of the table; a new loop goes on with them
}

func newSupervisor(log zerolog.Logger, options Options) *supervisor {
	return &supervisor{
		log: log, options: options, slots: map[string]*slot{}, ended: make(chan string),
		crew: routine.New(context.Background()), tasks: target.NewTaskLog(target.LogFailed),
	}
}

// drain stops all targets and waits for them.
func (s *supervisor) drain(ctx context.Context) error {
	s.want(ctx, nil)
	for len(s.slots) > 0 {
		select {
		case identity := <-s.ended:
			s.leave(ctx, identity)
		case <-s.options.Tick:
			s.options.Ticked()
		}
	}
	s.crew.Wait()
	return ctx.Err()
}

// want replaces the wanted targets, and starts, changes and drains loops to match.
func (s *supervisor) want(ctx context.Context, targets []work.Target) {
	for _, slot := range s.slots {
		slot.wanted = nil
	}
	for _, t := range targets {
		id := identity(t)
		if s.slots[id] == nil {
			s.slots[id] = &slot{stats: target.NewStats()}
		}
		s.slots[id].wanted = &t
	}
	for id, slot := range s.slots {
		if slot.wanted == nil {
			s.adjust(ctx, id)
		}
	}
	for _, t := range targets {
		s.adjust(ctx, identity(t))
	}
}

// show passes the wanted targets to Watch. When the program ends, the last ones stay shown.
func (s *supervisor) show(targets []work.Target) {
	if s.options.Watch == nil {
		return
	}
	shown := slices.Clone(targets)
	for i := range shown {
		shown[i].Stats = s.slots[identity(shown[i])].stats
	}
	s.options.Watch.Show(shown)
}

// adjust takes the next step from the served target of a slot to the wanted one. It drains a
// changed target first; leave then calls adjust again.
func (s *supervisor) adjust(ctx context.Context, id string) {
	slot := s.slots[id]
	switch running := slot.stop != nil; {
	case !running && slot.wanted == nil:
		delete(s.slots, id)
	case !running:
		s.start(ctx, id, *slot.wanted)
	case slot.draining:
	case slot.wanted != nil && reflect.DeepEqual(*slot.wanted, slot.served):
		slot.changes.Poke() // a target that waits for its next try stops waiting
	case slot.wanted != nil && reflect.DeepEqual(*slot.wanted, slot.served.Adopt(*slot.wanted)):
		slot.served = *slot.wanted
		slot.changes.Set(*slot.wanted)
	default:
		s.log.Info().Str("target", slot.served.Name()).Bool("changed", slot.wanted != nil).Msg("draining target")
		slot.draining = true
		close(slot.stop)
	}
}

func (s *supervisor) start(ctx context.Context, id string, t work.Target) {
	log := s.log.With().Str("target", t.Name()).Logger()
	log.Info().Msg("starting target")
	stop, changes := make(chan struct{}), target.NewChanges()
	stats := s.slots[id].stats
	*s.slots[id] = slot{wanted: &t, served: t, stop: stop, changes: changes, stats: stats}
	serving := t
	serving.Changes, serving.Stats, serving.TaskLog = changes, stats, s.tasks
	s.crew.Go(func() {
		defer func() { s.ended <- id }()
		s.serve(ctx, stop, serving, log)
	})
}

// serve serves a target until it is drained. It logs a panic, and waits before the next loop may
// begin.
func (s *supervisor) serve(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) {
	err := s.crew.Call(func() error { return s.options.Serve(ctx, stop, t, log) })
	switch panicked := new(routine.Panic); {
	case errors.As(err, &panicked):
		fault.Advised(log.Error(), err).Str("retry_in", human.Duration(rest)).Msg("target failed")
		select {
		case <-time.After(rest):
		case <-stop:
		case <-ctx.Done():
		}
	case err != nil && ctx.Err() == nil:
		log.Error().Err(err).Msg("target failed while draining")
	}
}

// rest is how long a target waits after a panic before its next loop.
const rest = 5 * time.Second

// leave records that a slot's loop has ended, and takes the next step.
func (s *supervisor) leave(ctx context.Context, id string) {
	slot := s.slots[id]
	s.log.Info().Str("target", slot.served.Name()).Msg("target stopped")
	slot.stop, slot.draining = nil, false
	if ctx.Err() != nil {
		slot.wanted = nil
	}
	s.adjust(ctx, id)
}
