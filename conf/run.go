package conf

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// Run serves the targets of the file at path until options.Stop is closed; then
// it drains them and returns nil. When ctx ends sooner they end at once, and Run
// returns ctx's error. It fails by itself only when the file can't be read at
// first, with the error of Read. Later the file is read again on options.Reload
// and when it changes. When Run returns none of its goroutines is left.
func Run(ctx context.Context, path string, log zerolog.Logger, options Options) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s := newSupervisor(log, options)
	s.path = path
	w := watch(path, log.With().Str("file", path).Logger())
	defer w.close()
	file, err := s.first(ctx)
	if err != nil || file == nil {
		return err
	}
	s.logs(file)
	if err := s.listen(file.Listen); err != nil {
		return err
	}
	s.take(ctx, file)
	return s.run(ctx, w.changed)
}

// RunTargets serves targets as Run does, without a file: options.Reload and
// options.Log are not used.
func RunTargets(ctx context.Context, targets []work.Target, log zerolog.Logger, options Options) error {
	s := newSupervisor(log, options)
	s.options.Reload = nil
	s.tasks.Set(cmp.Or(options.Tasks, work.LogFailed))
	s.want(ctx, targets)
	return s.run(ctx, nil)
}

func (s *supervisor) run(ctx context.Context, changed <-chan struct{}) error {
	for {
		select {
		case identity := <-s.ended:
			s.leave(ctx, identity)
		case <-s.options.Reload:
			s.reread(ctx, true)
		case <-changed:
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
