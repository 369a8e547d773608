package web

import (
	"context"
	stdlog "log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
)

// Limits for clients.
const (
	headerLimit = 5 * time.Second // to send the request's head, and
	readLimit   = 10 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = time.Minute
	headerMost  = 8 << 10     // bytes, to which net/http adds 4 kB
	closeLimit  = time.Second // answers that are under way at the end
)

// server answers at one address.
type server struct {
	listener *listener
	http     *http.Server
	ended    <-chan error
}

func serve(crew *routine.Group, l net.Listener, handler http.Handler, log zerolog.Logger) *server {
	s := &server{listener: &listener{Listener: l}, http: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit, MaxHeaderBytes: headerMost,
		ErrorLog: stdlog.New(&rare{log: log}, "", 0),
	}}
	s.ended = crew.Start(func() error { return s.http.Serve(s.listener) })
	return s
}

// close lets answers that are under way go out for a moment.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // we wait for no client longer
	}
	<-s.ended
}

// rare logs messages of net/http, one a minute at most: anybody who can connect can cause them.
type rare struct {
	log  zerolog.Logger
	last atomic.Int64 // in seconds
}

// Write logs a line.
func (r *rare) Write(line []byte) (int, error) {
	now := time.Now().Unix()
	if last := r.last.Load(); now-last >= 60 && r.last.CompareAndSwap(last, now) {
		r.log.Warn().Bytes("said", line[:min(len(line), 500)]).Msg("HTTP server has a problem")
	}
	return len(line), nil
}
