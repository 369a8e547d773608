package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pgtaskd/web/edit"
	"pgtaskd/web/page"
)

const (
	beatEvery  = 15 * time.Second
	streamMost = time.Hour   // the browser asks again
	firstLimit = time.Second // for the first read, before a stream begins
	writeLimit = 10 * time.Second
)

// Events answers GET /events?page=/tasks&…: asked is the request for that page. It returns when the
// client has gone, or soon after ends is closed or the hub: then the browser asks again. If the
// first read tells soon that there can be no such page, it writes nothing and returns that error.
func (h *Hub) Events(out http.ResponseWriter, r *http.Request, asked *page.Asked, ends <-chan struct{}) error {
	return h.serve(out, r, h.viewOf(asked, ends))
}

// viewOf returns the view of a page. What it shows must not depend on more than its key.
func (h *Hub) viewOf(asked *page.Asked, ends <-chan struct{}) view {
	shared := *asked
	shared.User.Name = ""
	v := view{key: key{fmt.Sprintf("%q", []any{
		shared.Prefix, shared.Kind.Path, shared.Query.Encode(), shared.User.Role, shared.Hidden,
	}), ends}}
	if t, err := shared.Target(); err == nil && shared.Query.Has("target") {
		v.server = cmp.Or(t.Connect["hostaddr"], t.Connect["host"], t.Connect["service"]) + ":" + t.Connect["port"]
	}
	v.render = func(ctx context.Context) ([]string, error) {
		content, err := shared.Kind.Read(ctx, h.sessions, &shared)
		if err != nil {
			return nil, err
		}
		sheet := &page.Sheet{Asked: &shared, Heads: page.Heads(ctx, h.sessions, shared.Targets), Content: content}
		return sheet.Parts()
	}
	return v
}

// serve sends a view.
func (h *Hub) serve(out http.ResponseWriter, r *http.Request, v view) error {
	w := h.join(v)
	if w == nil {
		return errClosing
	}
	defer h.leave(w)
	var wrong *edit.Refused
	if errors.As(w.first(r).err, &wrong) && wrong.Status == http.StatusBadRequest {
		return wrong
	}
	s := &stream{out: out, control: http.NewResponseController(out)}
	_ = s.control.SetReadDeadline(time.Time{}) // the server's limit for a request would end the stream
	head := out.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if !s.write("retry: 2000\n\n") || r.Method == http.MethodHead {
		return nil
	}
	s.follow(r.Context().Done(), h.crew.Context().Done(), w)
	return nil
}

// first waits a moment for the first read.
func (w *watched) first(r *http.Request) *state {
	now := w.last.Load()
	if now.number > 0 {
		return now
	}
	timer := time.NewTimer(firstLimit)
	defer timer.Stop()
	select {
	case <-now.replaced:
	case <-timer.C:
	case <-r.Context().Done():
	}
	return w.last.Load()
}

var errClosing = errors.New("the page is closing")

// stream is one open answer.
type stream struct {
	out     http.ResponseWriter
	control *http.ResponseController
	has     int // the number of the state that the client has
}

// follow sends what is read, and a beat now and then: it finds out that the client has gone, and
// tells the client that the stream lives.
func (s *stream) follow(gone, closing <-chan struct{}, w *watched) {
	beat, end := time.NewTicker(beatEvery), time.NewTimer(streamMost)
	defer beat.Stop()
	defer end.Stop()
	now := w.last.Load()
	for well := s.send(now); well; {
		select {
		case <-now.replaced:
			now = w.last.Load()
			well = s.send(now)
		case <-beat.C:
			well = s.write(event("beat", "."))
		case <-end.C:
			return
		case <-gone:
			return
		case <-closing:
			return
		case <-w.key.ends:
			return
		}
	}
}

// send sends a state, or only its changes if the client has the one before.
func (s *stream) send(now *state) bool {
	text := now.changes
	if text == "" || s.has != now.number-1 {
		text = strings.Join(now.events, "")
	}
	s.has = now.number
	return text == "" || s.write(text)
}

// write reports whether the client has taken a text, or has room for it.
func (s *stream) write(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := s.out.Write([]byte(text))
	if err == nil {
		err = s.control.Flush()
	}
	_ = s.control.SetWriteDeadline(time.Time{}) // HTTP/2 would end the stream then, even between writes
	return err == nil
}
