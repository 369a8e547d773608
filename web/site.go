package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/routine"
	"pgtaskd/web/act"
	"pgtaskd/web/live"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
	"pgtaskd/work/target"
)

// Site shows the targets of one controller. One goroutine calls Listen, Show and Close.
type Site struct {
	Demo *page.Demo // set before Listen; nil: this is no demo

	log      zerolog.Logger
	crew     *routine.Group
	server   *server // nil: the site does not listen
	targets  *targets
	sessions *rows.Sessions
	acts     *act.Acts
	hub      *live.Hub
	tries    *login.Tries
	front    atomic.Pointer[front] // answers requests; nil: the site does not listen
	// answering is held by requests that are being answered, and by Close.
	answering sync.RWMutex
}

// New returns a site that does not listen yet.
func New(log zerolog.Logger, version string) *Site {
	sessions := rows.New()
	s := &Site{
		log: log, crew: routine.New(context.Background()), targets: &targets{version: version}, sessions: sessions,
		acts: act.New(sessions, log), hub: live.New(sessions, log), tries: &login.Tries{},
	}
	s.Show(nil)
	return s
}

// Listen serves as the settings say. If the address is as before, open connections stay. On
// failure, the settings before stay.
func (s *Site) Listen(settings conf.HTTP) error {
	if settings.Listen == "" {
		s.leave()
		return nil
	}
	before := s.front.Load()
	if before != nil && reflect.DeepEqual(before.settings, settings) {
		return nil
	}
	pair, err := newPair(settings.Cert, settings.Key, s.log)
	if err != nil {
		return fmt.Errorf("http.cert: %w", err)
	}
	if before != nil && before.settings.Listen == settings.Listen {
		s.renew(settings, pair)
		return nil
	}
	listener, err := net.Listen("tcp", settings.Listen)
	// This site itself may use the port, so it leaves the port before it tries again.
	if errors.Is(err, syscall.EADDRINUSE) && s.server != nil && portOf(settings.Listen) == portOf(s.server.listener.Addr().String()) {
		old := before.settings
		old.Listen = before.bound.String()
		s.leave()
		if listener, err = net.Listen("tcp", settings.Listen); err != nil {
			err = errors.Join(err, s.Listen(old))
		}
	}
	if err != nil {
		return fmt.Errorf("http.listen: cannot listen on %s: %w", settings.Listen, err)
	}
	s.leave()
	s.server = serve(s.crew, listener, s, s.log)
	s.renew(settings, pair)
	return nil
}

// renew makes requests be answered under other settings.
func (s *Site) renew(settings conf.HTTP, pair *pair) {
	f := newFront(s, settings, s.server.listener.Addr(), pair)
	s.swap(f)
	s.tend()
	if f.closed != "" {
		s.log.Info().Str("url", s.URL()).Msg("health and metrics are served")
		s.log.Warn().Str("reason", f.closed).Msg("the page is not served, only health and metrics")
		return
	}
	s.log.Info().Str("url", s.URL()).Msg("the page and the metrics are served")
}

// swap replaces the front, and ends the streams of the one before.
func (s *Site) swap(f *front) {
	if before := s.front.Swap(f); before != nil {
		close(before.ends)
	}
}

// tend lets acts go on, if there is a page with users who could have begun them.
func (s *Site) tend() {
	if f := s.front.Load(); f != nil && f.closed == "" && !f.users.None() {
		s.acts.Show(s.targets.pages())
	} else {
		s.acts.Show(nil)
	}
}

// secure returns what a new connection needs for TLS; nil: there is none.
func (s *Site) secure() *tls.Config {
	if f := s.front.Load(); f != nil && f.pair != nil {
		return f.pair.config()
	}
	return nil
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// URL returns the URL of the page; "" if the site does not listen.
func (s *Site) URL() string {
	f := s.front.Load()
	switch {
	case f == nil:
		return ""
	case f.pair != nil:
		return "https://" + f.bound.String() + f.settings.Prefix
	}
	return "http://" + f.bound.String() + f.settings.Prefix
}

// Close ends the site.
func (s *Site) Close() {
	s.leave()
	s.crew.Wait()
	s.answering.Lock() // what the server did not wait for ends as its client has gone
	defer s.answering.Unlock()
	s.hub.Close()
	s.acts.Close()
	s.sessions.Close()
}

func (s *Site) leave() {
	s.swap(nil)
	s.tend()
	if s.server != nil {
		s.server.close()
	}
	s.server = nil
}

// Stale shows why the configuration could not be loaded again; "": it was.
func (s *Site) Stale(why string) { s.targets.stale.Store(&why) }

// Show replaces the targets that are shown. Each has its Stats.
func (s *Site) Show(targets []target.Target) {
	s.targets.show(targets)
	s.tend()
	if f := s.front.Load(); f != nil { // streams have the targets before
		s.swap(newFront(s, f.settings, f.bound, f.pair))
	}
}
