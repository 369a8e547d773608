package conf

import (
	"context"
	"errors"

	"pgtaskd/remote"
)

// first reads the file that Run begins with. It may be a pipe, which is waited for until Run has to
// end: then there is no file, and no error but ctx's.
func (s *supervisor) first(ctx context.Context) (*File, error) {
	reading, end := context.WithCancel(ctx)
	s.crew.Go(func() {
		select {
		case <-s.options.Stop:
			end()
		case <-reading.Done():
		}
	})
	data, err := remote.ReadInput(reading, s.path)
	end()
	s.crew.Wait()
	if errors.Is(err, context.Canceled) {
		return nil, ctx.Err()
	}
	s.fresh(data, err)
	if err != nil {
		return nil, err
	}
	file, err := Parse(data)
	return file, inFile(s.path, err)
}

// fresh tells whether the file differs from the last look: its content, or the error of reading it.
func (s *supervisor) fresh(data []byte, err error) bool {
	found := string(data)
	if err != nil {
		found = err.Error()
	}
	before := s.seen
	s.seen = found
	return found != before
}

// logs sets the log as the file says, before more is logged.
func (s *supervisor) logs(file *File) {
	if s.options.Log != nil {
		s.options.Log(file.Log)
	}
	s.tasks.Set(file.Log.Tasks)
}

// take serves the file's targets from now on.
func (s *supervisor) take(ctx context.Context, file *File) {
	s.log.Info().Str("file", s.path).Int("targets", len(file.Targets)).Msg("configuration loaded")
	if warning := file.Exposed(s.path); warning != "" {
		s.log.Warn().Str("file", s.path).Msg(warning)
	}
	s.want(ctx, file.Targets)
	s.show(file.Targets)
}

// reread loads the file as it is now; a bad one changes nothing. By now it has to be a regular one,
// which keeps nobody waiting. A file that is as before, good or bad, is logged only when somebody has
// asked for a reload.
func (s *supervisor) reread(ctx context.Context, asked bool) {
	data, err := remote.ReadFile(s.path)
	if !s.fresh(data, err) && !asked {
		return
	}
	var file *File
	if err == nil {
		file, err = Parse(data)
	}
	if err != nil {
		s.complain(err)
		return
	}
	s.logs(file)
	if err := s.listen(file.Listen); err != nil {
		s.log.Error().Err(err).Str("file", s.path).Msg("cannot serve the metrics there; the previous address stays")
	}
	s.take(ctx, file)
}

func (s *supervisor) complain(err error) {
	log := s.log.With().Str("file", s.path).Logger()
	var faults Faults
	if errors.As(err, &faults) {
		for _, fault := range faults {
			log.Error().Err(fault).Msg("invalid configuration")
		}
	} else {
		log.Error().Err(err).Msg("cannot read the configuration")
	}
	log.Error().Msg("keeping the previous configuration")
}

// listen serves the metrics at that address.
func (s *supervisor) listen(address string) error {
	if s.options.Watch == nil {
		return nil
	}
	return s.options.Watch.Listen(address)
}
