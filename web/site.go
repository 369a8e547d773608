package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/work/target"
)

// Site shows the targets of one controller. Listen, Show and Close are for one goroutine.
type Site struct {
	log     zerolog.Logger
	crew    *routine.Group
	address string  // as configured
	server  *server // nil: it does not listen
	targets *targets
}

// New returns a site that does not listen yet.
func New(log zerolog.Logger, version string) *Site {
	s := &Site{log: log, crew: routine.New(context.Background()), targets: &targets{version: version}}
	s.Show(nil)
	return s
}

// Listen serves the site at another address, "" at none. When it fails, it goes on where it was.
func (s *Site) Listen(address string) error {
	if address == s.address {
		return nil
	}
	if address == "" {
		s.leave()
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) && s.server != nil && portOf(address) == portOf(s.server.listener.Addr().String()) { // it may be ours
		before := s.server.listener.Addr().String()
		s.leave()
		if listener, err = net.Listen("tcp", address); err != nil {
			err = errors.Join(err, s.Listen(before))
		}
	}
	if err != nil {
		return fmt.Errorf("http.listen: cannot listen on %s: %w", address, err)
	}
	s.leave()
	s.address, s.server = address, serve(s.crew, listener, guarded(address, listener.Addr(), routes(s.targets)), s.log)
	s.log.Info().Str("url", s.URL()).Msg("metrics are served")
	return nil
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// URL is where the site is, "" when it does not listen.
func (s *Site) URL() string {
	if s.server == nil {
		return ""
	}
	return "http://" + s.server.listener.Addr().String()
}

// Close ends the site.
func (s *Site) Close() {
	s.leave()
	s.crew.Wait()
}

func (s *Site) leave() {
	if s.server != nil {
		s.server.close()
	}
	s.address, s.server = "", nil
}

// Show makes the targets, with their Stats, those that are shown.
func (s *Site) Show(targets []target.Target) { s.targets.show(targets) }
