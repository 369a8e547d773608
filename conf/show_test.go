package conf

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// watched is a Watch that passes on its calls.
type watched struct {
	addresses chan HTTP
	targets   chan []work.Target
	refuses   string // an address
	stale     chan string
}

func (w *watched) Listen(h HTTP) error {
	w.addresses <- h
	if h.Listen == w.refuses {
		return errors.New("cannot listen on " + h.Listen)
	}
	return nil
}

func (w *watched) Show(targets []work.Target) { w.targets <- targets }

func (w *watched) Stale(why string) { w.stale <- why }

// TestWatchIsTold: Watch learns the address and the targets. A table keeps its counts while it is a
// target. A port in use ends the start. At a reload it is only logged, and the rest of the file
// counts.
func TestWatchIsTold(t *testing.T) {
	t.Parallel()
	w := &watched{make(chan HTTP, 100), make(chan []work.Target, 100), "127.0.0.1:1", make(chan string, 100)}
	path := file(t, `{"http": {"listen": "127.0.0.1:1"}, "targets": [{"data": "a"}]}`)
	if err := Run(t.Context(), path, zerolog.Nop(), Options{Watch: w}); err == nil || !strings.Contains(err.Error(), "cannot listen on 127.0.0.1:1") {
		t.Errorf("%v", err)
	}
	<-w.addresses

	s := open(t, file(t, `{"http": {"listen": "127.0.0.1:2"}, "targets": [{"data": "a"}, {"data": "b"}]}`), w)
	runs := s.begin("a/public/task", "b/public/task")
	before := await(t, w.targets, "targets")
	if address := await(t, w.addresses, "an address"); address.Listen != "127.0.0.1:2" || len(before) != 2 || runs["a/public/task"].target.Stats != before[0].Stats {
		t.Errorf("%v %v", address, before)
	}
	s.write(`{"http": {"listen": "127.0.0.1:1"}, "targets": [{"data": "a", "reset": "3 s"}]}`)
	runs["a/public/task"].drains(t)
	runs["b/public/task"].drains(t)
	s.says("cannot serve the page there")
	after := await(t, w.targets, "targets")
	if len(after) != 1 || after[0].Stats != before[0].Stats {
		t.Errorf("%v", after)
	}
	runs["b/public/task"].result <- nil
	runs["a/public/task"].result <- nil
	last := s.begin("a/public/task")["a/public/task"]
	if last.target.Stats != before[0].Stats {
		t.Error("the counts begin again when a target has changed")
	}
	s.write(`[{"data": "a", "resets": "3 s"}]`)
	s.says("keeping the previous configuration")
	s.write(`[{"data": "a", "reset": "3 s"}]`)
	for _, want := range []string{"cannot listen on 127.0.0.1:1", `: line 1, column 16: targets[0].resets: unknown key`, ""} {
		if why := await(t, w.stale, "staleness"); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("it is stale as %q, not %q", why, want)
		}
	}
	for _, want := range []string{"127.0.0.1:1", ""} {
		if address := await(t, w.addresses, "an address"); address.Listen != want {
			t.Errorf("%v, not %q", address, want)
		}
	}
	close(s.stop)
	last.drains(t)
	last.result <- nil
	s.finish(nil)
	<-w.targets
	if len(w.targets) > 0 {
		t.Error("what ends with the program is shown to the last")
	}
}
