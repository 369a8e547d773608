package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/web/page"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// served is a hub behind an HTTP server with the limits of the site. Everything runs in a bubble of
// synctest, so an hour takes no time.
type served struct {
	*Hub
	t     *testing.T
	conns chan net.Conn
	view  view
	reads atomic.Int64
	shows atomic.Pointer[[]string]
	fails atomic.Pointer[error]
	took  time.Duration
}

func serve(t *testing.T) *served {
	s := &served{Hub: New(nil, zerolog.Nop()), t: t, conns: make(chan net.Conn)}
	s.shows.Store(&[]string{"a", "b"})
	s.view.render = func(context.Context) ([]string, error) {
		time.Sleep(s.took)
		s.reads.Add(1)
		if err := s.fails.Load(); err != nil {
			return nil, *err
		}
		return *s.shows.Load(), nil
	}
	server := &http.Server{ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.serve(w, r, s.view); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})}
	go func() { _ = server.Serve(s) }()
	t.Cleanup(func() { s.Hub.Close(); _ = server.Close() })
	return s
}

func (s *served) Accept() (net.Conn, error) {
	c, open := <-s.conns
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (s *served) Close() error   { close(s.conns); return nil }
func (s *served) Addr() net.Addr { return &net.TCPAddr{} }

// ask opens a stream, and reads the head of the answer.
func (s *served) ask() (net.Conn, *http.Response) {
	client, server := net.Pipe()
	s.conns <- server
	if _, err := io.WriteString(client, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		s.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return client, response
}

// open returns the events of a stream as they come; closed at its end.
func (s *served) open() <-chan string {
	client, response := s.ask()
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		defer client.Close()
		var event []string
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if lines.Text() != "" {
				event = append(event, lines.Text())
			} else if strings.HasPrefix(event[0], "event: ") {
				events <- strings.Join(event, "|")
				event = nil
			} else {
				event = nil
			}
		}
	}()
	return events
}

// gets checks the events of a stream up to now; the beats do not count. end: it has ended.
func gets(t *testing.T, events <-chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for len(events) > 0 {
		if event := <-events; event != "event: beat|data: ." {
			got = append(got, event)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q instead of %q", got, want)
	}
}

// ended reports whether a stream ends within a time.
func ended(events <-chan string, within time.Duration) bool {
	for limit := time.After(within); ; {
		select {
		case _, open := <-events:
			if !open {
				return true
			}
		case <-limit:
			return false
		}
	}
}

// TestStreamsTellWhatHasChanged: the parts that have changed, within a second; why there is nothing
// new; and all when it goes on. Limits of the server do not end a stream.
func TestStreamsTellWhatHasChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		events := s.open()
		time.Sleep(100 * time.Millisecond)
		gets(t, events, "event: page|data: a", "event: page|data: b")
		time.Sleep(10 * time.Minute)
		gets(t, events)
		s.shows.Store(&[]string{"a", "one\ntwo\rthree\r\nfour"})
		time.Sleep(time.Second)
		gets(t, events, "event: page|data: one|data: two|data: three|data: four")
		fault := errors.New("no\nserver")
		s.fails.Store(&fault)
		time.Sleep(time.Minute)
		gets(t, events, `event: fault|data: no\nserver`)
		before := s.reads.Load()
		time.Sleep(10 * time.Minute)
		if n := s.reads.Load() - before; n > 21 {
			t.Errorf("%d reads in ten minutes without a server", n)
		}
		s.fails.Store(nil)
		time.Sleep(retryMost)
		gets(t, events, "event: page|data: a", "event: page|data: one|data: two|data: three|data: four")
		gets(t, s.open(), "event: page|data: a", "event: page|data: one|data: two|data: three|data: four")
		if !ended(events, streamMost) {
			t.Error("a stream has no end")
		}
	})
}

// TestStreamsEnd: at Close, when the settings change, and when there can be no such page.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, other := serve(t), serve(t)
		settings := make(chan struct{})
		s.view.key.ends = settings
		byHub, bySettings := other.open(), s.open()
		time.Sleep(time.Minute)
		other.Hub.Close()
		close(settings)
		if !ended(byHub, time.Second) || !ended(bySettings, time.Second) {
			t.Error("a stream goes on")
		}
		wrong := page.Wrong("there is no state x")
		s.fails.Store(&wrong)
		s.view.key.page = "wrong"
		for _, closed := range []*served{s, other} {
			client, response := closed.ask()
			if response.StatusCode != http.StatusBadRequest {
				t.Error(response.Status)
			}
			client.Close()
		}
		before := s.reads.Load()
		time.Sleep(time.Hour)
		if n := s.reads.Load() - before; n > 1 {
			t.Errorf("%d reads, and nobody watches", n)
		}
	})
}

// TestSlowClientsAreDropped: a client that does not read costs no memory for long.
func TestSlowClientsAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		client, _ := s.ask() // reads no more
		defer client.Close()
		good := s.open()
		time.Sleep(writeLimit + beatEvery)
		synctest.Wait()
		s.mu.Lock()
		for _, w := range s.views {
			if w.streams != 1 {
				t.Errorf("%d streams are open", w.streams)
			}
		}
		s.mu.Unlock()
		if len(good) < 2 {
			t.Error("another client gets nothing")
		}
	})
}

// TestReadsAreShared: streams of one view share a read each second; different views of a server are
// read in turn, in a tenth of the time; another server has a tenth of its own.
func TestReadsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, zerolog.Nop())
		defer h.Close()
		counts := map[string]*atomic.Int64{}
		join := func(name, server string, takes time.Duration) {
			if counts[name] == nil {
				counts[name] = &atomic.Int64{}
			}
			count := counts[name]
			h.join(view{key{page: name}, server, func(context.Context) ([]string, error) {
				count.Add(1)
				time.Sleep(takes)
				return []string{"same"}, nil
			}})
		}
		for i := range 200 {
			join("one", "quick", time.Millisecond)
			join(fmt.Sprint(i), "busy", 5*time.Millisecond)
		}
		time.Sleep(100 * time.Second)
		synctest.Wait()
		if n := counts["one"].Load(); n < 99 || n > 101 {
			t.Errorf("%d reads for 200 streams of one page", n)
		}
		for i := range 200 {
			if n := counts[fmt.Sprint(i)].Load(); n < 9 || n > 12 {
				t.Errorf("%d reads of one of 200 pages: about 2000 in all fit into a tenth of the time", n)
			}
		}
	})
}

// TestPanicOfAPageIsItsOwn: others go on, and its streams get no details.
func TestPanicOfAPageIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		events := s.open()
		good := s.view.render
		s.view = view{key: key{page: "bad"}, render: func(context.Context) ([]string, error) { panic("secret") }}
		gets(t, s.open(), "event: fault|data: the page has a fault: the log of the controller says more")
		s.view = view{key: key{page: "good"}, render: good}
		gets(t, s.open(), "event: page|data: a", "event: page|data: b")
		gets(t, events, "event: page|data: a", "event: page|data: b")
	})
}
