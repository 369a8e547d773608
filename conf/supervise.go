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

// supervisor compares the targets that are wanted with those that are served.
// Its fields belong to the goroutine that called Run.
type supervisor struct {
	log     zerolog.Logger
	options Options
	path    string
	seen    string // the file's last content, or the error of reading it

	slots map[string]*slot // by identity of the target
	ended chan string      // identities whose loop has ended
	crew  *routine.Group   // the loops

	tasks *target.TaskLog // for all loops
}

// slot is where the loop of one table runs: never two at a time.
type slot struct {
	wanted   *work.Target    // nil: none
	served   work.Target     // by the loop that runs
	changes  *target.Changes // of the loop that runs
	stop     chan struct{}   // of the loop that runs; nil when none does
	draining bool            // stop is closed
	stats    *target.Stats   // of the table, whichever loop runs
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

// want makes targets the wanted ones, and begins to start, change and drain loops accordingly.
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

// show shows the targets that are wanted from now on. When the program ends, the last ones stay
// shown.
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

// adjust takes the next step from the target that a slot serves to the one that is wanted there. A
// changed target is drained first; leave then calls adjust again.
func (s *supervisor) adjust(ctx context.Context, id string) {
	slot := s.slots[id]
	switch running := slot.stop != nil; {
	case !running && slot.wanted == nil:
		delete(s.slots, id)
	case !running:
		s.start(ctx, id, *slot.wanted)
	case slot.draining:
	case slot.wanted != nil && reflect.DeepEqual(*slot.wanted, slot.served):
		slot.changes.Poke() // a target that waits before its next try does not wait longer
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

// serve serves a target until it is drained. A panic is logged, and the target rests for a while
// before another loop begins.
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

// rest is how long a target that has panicked waits before its next loop.
const rest = 5 * time.Second

// leave records that a slot's loop has ended.
func (s *supervisor) leave(ctx context.Context, id string) {
	slot := s.slots[id]
	s.log.Info().Str("target", slot.served.Name()).Msg("target stopped")
	slot.stop, slot.draining = nil, false
	if ctx.Err() != nil {
		slot.wanted = nil
	}
	s.adjust(ctx, id)
}
