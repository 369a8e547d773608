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

// Site shows the targets of one controller. One goroutine calls Listen, Show and Close.
type Site struct {
	log     zerolog.Logger
	crew    *routine.Group
	address string  // as configured; "": none
	server  *server // nil: the site does not listen
	targets *targets
}

// New returns a site that does not listen yet.
func New(log zerolog.Logger, version string) *Site {
	s := &Site{log: log, crew: routine.New(context.Background()), targets: &targets{version: version}}
	s.Show(nil)
	return s
}

// Listen moves the site to another address; "" serves none. On failure the old address stays.
func (s *Site) Listen(address string) error {
	if address == s.address {
		return nil
	}
	if address == "" {
		s.leave()
		return nil
	}
	listener, err := net.Listen("tcp", address)
	// This site itself may use the port, so it leaves the port before it tries again.
	if errors.Is(err, syscall.EADDRINUSE) && s.server != nil && portOf(address) == portOf(s.server.listener.Addr().String()) {
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

// URL returns the URL of the site; "" if it does not listen.
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

// Show replaces the targets that are shown. Each has its Stats.
func (s *Site) Show(targets []target.Target) { s.targets.show(targets) }
