package conf

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
	"pgtaskd/work/target"
)

// lookEvery is how often Run reads the file again. Reading works on every system and follows every
// changed link. A half-written file is not valid JSON; the next look reads the rest.
const lookEvery = 500 * time.Millisecond

// Run serves the targets of the file at path until options.Stop is closed; then it drains them and
// returns nil. If ctx ends sooner, it ends them at once and returns ctx's error. Run itself fails
// only at the start: if it cannot read the file (the error of Read), or cannot serve the page.
// It reads the file again on options.Reload and when the file has changed. When Run returns, all
// its goroutines have ended.
func Run(ctx context.Context, path string, log zerolog.Logger, options Options) error {
	s := newSupervisor(log, options)
	s.path = path
	info, statErr := os.Stat(path) // before targets start: the file may be replaced later
	file, err := s.first(ctx)
	if err != nil || file == nil {
		return err
	}
	s.logs(file)
	if err := s.listen(file.HTTP); err != nil {
		return err
	}
	s.take(ctx, file)
	if statErr != nil || !info.Mode().IsRegular() { // a pipe can be read only once
		return s.run(ctx, nil)
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	return s.run(ctx, look.C)
}

// RunTargets serves targets as Run does, without a file: it uses neither options.Reload nor
// options.Log.
func RunTargets(ctx context.Context, targets []work.Target, log zerolog.Logger, options Options) error {
	s := newSupervisor(log, options)
	s.options.Reload = nil
	s.tasks.Set(cmp.Or(options.Tasks, target.LogFailed))
	s.want(ctx, targets)
	s.show(targets)
	return s.run(ctx, nil)
}

func (s *supervisor) run(ctx context.Context, look <-chan time.Time) error {
	for {
		select {
		case identity := <-s.ended:
			s.leave(ctx, identity)
		case <-s.options.Reload:
			s.reread(ctx, true)
		case <-look:
			s.reread(ctx, false)
		case <-s.options.Tick:
			s.options.Ticked()
		case <-s.options.Stop:
			return s.drain(ctx)
		case <-ctx.Done():
			return s.drain(ctx)
		}
	}
}
