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

// Limits of each client.
const (
	headerLimit = 5 * time.Second // for the head of the request
	readLimit   = 10 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = time.Minute
	headerMost  = 8 << 10     // bytes; net/http adds 4 kB
	closeLimit  = time.Second // for answers under way when the server closes
)

// server serves one address.
type server struct {
	listener *listener
	http     *http.Server
	ended    <-chan error
}

func serve(crew *routine.Group, l net.Listener, site *Site, log zerolog.Logger) *server {
	s := &server{listener: &listener{Listener: l, secure: site.secure}, http: &http.Server{
		Handler: site, ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit, MaxHeaderBytes: headerMost,
		ErrorLog: stdlog.New(&rare{log: log}, "", 0),
	}}
	s.ended = crew.Start(func() error { return s.http.Serve(s.listener) })
	return s
}

// close gives answers under way a moment to finish.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // the client has had its time
	}
	<-s.ended
}

// rare logs at most one message of net/http a minute: anybody who can connect can cause them.
type rare struct {
	log  zerolog.Logger
	last atomic.Int64 // Unix time in seconds
}

// Write logs a line of net/http.
func (r *rare) Write(line []byte) (int, error) {
	now := time.Now().Unix()
	if last := r.last.Load(); now-last >= 60 && r.last.CompareAndSwap(last, now) {
		r.log.Warn().Bytes("said", line[:min(len(line), 500)]).Msg("HTTP server has a problem")
	}
	return len(line), nil
}
