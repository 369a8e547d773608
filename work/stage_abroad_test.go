package work

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

// abroad is a stage whose tasks have a remote on another server. A proxy is on the way to each of
// the two.
type abroad struct {
	*stage
	stats       *target.Stats
	here, there *tap
	far         *stage // the remote's database, without the proxy
	remote      string
	link        string // a link to the socket of the remote's server, by which the proxy finds it
}

// tap does something to the messages between the controller and a server.
type tap struct {
	*proxy.Proxy
	mu    sync.Mutex
	talks map[int]*spoken
	does  func(*spoken) proxy.Verdict // nil: nothing
}

// spoken is what the controller has said on a connection.
type spoken struct {
	kind     byte
	input    bool // it has sent an effect
	fence    bool // the message belongs to the commit of a fence,
	prepares bool // to a preparation,
	commits  bool // or to the COMMIT of a task
	locates  bool // it asks where it is
	last     bool // the connection is cut after it: the answer must not pass
}

var placed = regexp.MustCompile(`[0-9]+/[0-9]+/[0-9A-F]{8}`)

// hears takes a message of the controller. The last one of each statement is a Sync.
func (w *spoken) hears(kind byte, body []byte) {
	if w.kind == 'S' {
		w.fence, w.prepares, w.commits, w.locates = false, false, false, false
	}
	text := string(body)
	w.kind = kind
	switch kind {
	case 'Q':
		w.input = w.input || strings.Contains(text, "effect")
	case 'P':
		w.locates = strings.Contains(text, "pg_walfile_name")
		w.fence, w.commits = strings.Contains(text, "pg_logical_emit_message"), w.input && strings.HasPrefix(text, "\x00COMMIT")
	case 'B':
		w.prepares = w.prepares || placed.MatchString(text)
	}
}

func tapped(t *testing.T, socket string) *tap {
	t.Helper()
	p, err := proxy.Start(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	a := &tap{Proxy: p, talks: map[int]*spoken{}}
	p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		a.mu.Lock()
		defer a.mu.Unlock()
		w, does := a.talks[conn], a.does
		if w == nil {
			w = &spoken{}
			a.talks[conn] = w
		}
		switch {
		case !fromClient && w.last:
			return proxy.Cut
		case !fromClient:
			return proxy.Pass
		}
		if w.hears(kind, body); does == nil {
			return proxy.Pass
		}
		a.mu.Unlock()
		v := does(w)
		a.mu.Lock()
		w.last = v == proxy.PassThenCut
		return v
	})
	return a
}

// on does something with all messages, from now on.
func (a *tap) on(does func(*spoken) proxy.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.does = does
}

// once does something with the first message that fits. The channel is closed before that.
func (a *tap) once(fits func(*spoken) bool, does func() proxy.Verdict) (met <-chan struct{}) {
	found := make(chan struct{})
	var first sync.Once
	a.on(func(w *spoken) (v proxy.Verdict) {
		if fits(w) {
			first.Do(func() { close(found); v = does() })
		}
		return v
	})
	return found
}

// Messages that a tap can meet: the first and the last one of a statement.
var (
	commitBegins  = func(w *spoken) bool { return w.commits && w.kind == 'P' }
	commitEnds    = func(w *spoken) bool { return w.commits && w.kind == 'S' }
	fenceBegins   = func(w *spoken) bool { return w.fence && w.kind == 'P' }
	fenceEnds     = func(w *spoken) bool { return w.fence && w.kind == 'S' }
	prepareBegins = func(w *spoken) bool { return w.prepares && w.kind == 'B' }
	prepareEnds   = func(w *spoken) bool { return w.prepares && w.kind == 'S' }
)

// goAbroad serves a table of the shared server, with a remote on another one.
func goAbroad(t *testing.T, other *server.Server) *abroad {
	t.Helper()
	stats := target.NewStats()
	a := neighbour(furnished(t, func(t *Target) { t.Stats = stats }), other)
	a.stats, a.here = stats, tapped(t, servertest.Server(t).Socket())
	var err error
	a.target.Connect, err = remote.Parse(a.here.DSN(a.dsn))
	a.succeeds(err)
	a.serve()
	a.settled()
	return a
}

// neighbour makes a remote for a stage.
func neighbour(s *stage, other *server.Server) *abroad {
	s.t.Helper()
	a := &abroad{stage: s, link: filepath.Join(s.t.TempDir(), "remote")}
	name := a.get("SELECT current_database()")
	stageOn(s.t, other.DSN("postgres")).exec("CREATE DATABASE " + name)
	a.far = stageOn(s.t, other.DSN(name))
	a.far.exec("CREATE TABLE effect (id int8)")
	a.moves(other)
	a.there = tapped(s.t, a.link)
	a.remote = a.there.DSN("dbname=" + name + " user=postgres")
	return a
}

// moves makes the remote's name lead to another server.
func (a *abroad) moves(to *server.Server) {
	a.t.Helper()
	_ = os.Remove(a.link) // it may be the first
	if err := os.Symlink(to.Socket(), a.link); err != nil {
		a.t.Fatal(err)
	}
}

// effects is how often a task has had its effect on the remote.
func (a *abroad) effects(id int64) string {
	a.t.Helper()
	return a.far.get("SELECT count(*) FROM effect WHERE id = $1", id)
}

// ends checks what a task has come to: state, SQLSTATE, runs, interrupted runs, and effects.
func (a *abroad) ends(id int64, want string) {
	a.t.Helper()
	a.becomes(id, strings.Fields(want)[0])
	if got := a.get("SELECT concat_ws(' ', state, sqlstate, attempt, interrupted) FROM task WHERE id = $1", id) + " " + a.effects(id); got != want {
		a.t.Errorf("%s, want %s: %s", got, want, a.row(id, "output, error, runs, xact"))
	}
}

// wait waits for a message.
func (a *abroad) wait(met <-chan struct{}) {
	a.t.Helper()
	a.until("the message", func() bool {
		select {
		case <-met:
			return true
		default:
			return false
		}
	})
}
