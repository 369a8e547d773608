package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/work"
)

// Site shows the targets of one controller. Listen, Show and Close are for one goroutine.
type Site struct {
	log      zerolog.Logger
	registry *prometheus.Registry
	crew     *routine.Group
	address  string  // as configured
	server   *server // nil: it does not listen

	page page

	mu    sync.Mutex
	shown []shown
}

// shown is a target with the name that people see, which no other has.
type shown struct {
	name    string
	stats   *work.Stats
	written *written
}

// New returns a site that does not listen yet.
func New(log zerolog.Logger, version string) *Site {
	s := &Site{log: log, crew: routine.New(context.Background()), registry: prometheus.NewRegistry()}
	s.registry.MustRegister(build(version))
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
	if errors.Is(err, syscall.EADDRINUSE) && s.server != nil && port(address) == port(s.server.listener.Addr().String()) { // it may be ours
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
	s.address, s.server = address, serve(s.crew, listener, guarded(address, listener.Addr(), s.handler()), s.log)
	s.log.Info().Str("url", s.URL()).Msg("metrics are served")
	return nil
}

func port(address string) string {
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
func (s *Site) Show(targets []work.Target) {
	known := map[*work.Stats]shown{}
	for _, t := range s.targets() {
		known[t.stats] = t
	}
	var now []shown
	for i, name := range names(targets) {
		t := known[targets[i].Stats]
		if t.name != name {
			t = shown{name: name, stats: targets[i].Stats, written: &written{}}
		}
		now = append(now, t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = now
}

// targets are those that are shown.
func (s *Site) targets() []shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// names are those of the targets, with their servers where one name is not enough.
func names(targets []work.Target) []string {
	times := map[string]int{}
	for _, t := range targets {
		times[t.Name()]++
	}
	used, all := map[string]bool{}, make([]string, len(targets))
	for i, t := range targets {
		name := t.Name()
		if times[name] > 1 {
			name += "@" + cmp.Or(t.Connect["host"], t.Connect["hostaddr"], t.Connect["service"]) + ":" + cmp.Or(t.Connect["port"], "5432")
		}
		name = human.Visible(name)
		all[i] = name
		for n := 2; used[all[i]]; n++ {
			all[i] = fmt.Sprintf("%s#%d", name, n)
		}
		used[all[i]] = true
	}
	return all
}
