package conf

import (
	"context"
	"errors"
	"strings"

	"pgtaskd/remote"
)

// first reads the file for the first time. If it is a pipe, first waits for it. If Run has to end
// meanwhile, first returns no file, and ctx's error if ctx has ended.
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
	return s.parse(data)
}

// parse reads a configuration that is to be served.
func (s *supervisor) parse(data []byte) (*File, error) {
	file, err := parseFile(s.path, data)
	if err == nil {
		err = file.Servable()
	}
	return file, err
}

// fresh reports whether the content of the file or of a token file, or the error of reading it, has
// changed.
func (s *supervisor) fresh(data []byte, err error) bool {
	found := string(data)
	if err != nil {
		found = err.Error()
	}
	stamp := s.http.stamp()
	same := found == s.seen && stamp == s.stamp
	s.seen, s.stamp = found, stamp
	return !same
}

// logs applies the log settings of the file, before more is logged.
func (s *supervisor) logs(file *File) {
	if s.options.Log != nil {
		s.options.Log(file.Log)
	}
	s.tasks.Set(file.Log.Tasks)
}

// take begins to serve the targets of the file.
func (s *supervisor) take(ctx context.Context, file *File) {
	s.log.Info().Str("file", s.path).Int("targets", len(file.Targets)).Msg("configuration loaded")
	if warning := file.Exposed(s.path); warning != "" {
		s.log.Warn().Str("file", s.path).Msg(warning)
	}
	s.want(ctx, file.Targets)
	s.show(file.Targets)
}

// reread loads the file again; a bad file changes nothing. The file must be a regular one now:
// reading a pipe could block. If the file is as before, good or bad, reread logs it only if a
// reload was asked for.
func (s *supervisor) reread(ctx context.Context, asked bool) {
	data, err := remote.ReadFile(s.path)
	if !s.fresh(data, err) && !asked {
		return
	}
	var file *File
	if err == nil {
		file, err = s.parse(data)
	}
	if err != nil {
		s.complain(err)
		s.stale(err)
		return
	}
	s.logs(file)
	err = s.listen(file.HTTP)
	if err != nil {
		s.log.Error().Err(err).Str("file", s.path).Msg("cannot serve the page there; the previous address stays")
	}
	s.stale(err)
	s.take(ctx, file)
}

// stale tells Watch whether the configuration in force is that of the file.
func (s *supervisor) stale(err error) {
	if s.options.Watch == nil {
		return
	}
	why := ""
	if err != nil {
		why = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	s.options.Watch.Stale(why)
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

func (s *supervisor) listen(h HTTP) error {
	s.http, s.stamp = h, h.stamp()
	if s.options.Watch == nil {
		return nil
	}
	return s.options.Watch.Listen(h)
}
