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

// lookEvery is how often the file is read again. A look needs no help from the system, and sees the
// exchange of any link on the way. A file that is half written is no JSON: the next look finds the
// rest.
const lookEvery = 500 * time.Millisecond

// Run serves the targets of the file at path until options.Stop is closed; then
// it drains them and returns nil. When ctx ends sooner they end at once, and Run
// returns ctx's error. It fails by itself only when the file can't be read at
// first, with the error of Read. Later the file is read again on options.Reload
// and when it has changed. When Run returns none of its goroutines is left.
func Run(ctx context.Context, path string, log zerolog.Logger, options Options) error {
	s := newSupervisor(log, options)
	s.path = path
	info, statErr := os.Stat(path) // before targets start: later it may have been exchanged
	file, err := s.first(ctx)
	if err != nil || file == nil {
		return err
	}
	s.logs(file)
	if err := s.listen(file.Listen); err != nil {
		return err
	}
	s.take(ctx, file)
	if statErr != nil || !info.Mode().IsRegular() { // a pipe is read once
		return s.run(ctx, nil)
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	return s.run(ctx, look.C)
}

// RunTargets serves targets as Run does, without a file: options.Reload and
// options.Log are not used.
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
