package live

import (
	"errors"
	"net/http"
	"time"

	"pgtaskd/web/page"
)

const (
	beatEvery  = 15 * time.Second
	checkEvery = time.Minute // whether a stream is still allowed
	streamMost = time.Hour   // the browser asks again
	firstLimit = time.Second // for the first read, before a stream begins
	writeLimit = 10 * time.Second
)

// Serve sends a view until the client goes, the hub closes, or allowed says no. If the first read
// tells soon that there can be no such page, Serve writes nothing and returns that page.Wrong.
func (h *Hub) Serve(out http.ResponseWriter, r *http.Request, v View, allowed func() bool) error {
	w := h.join(v)
	if w == nil {
		return errors.New("the page is closing")
	}
	defer h.leave(w)
	var wrong page.Wrong
	if errors.As(w.first(r).err, &wrong) {
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
	s.follow(r.Context().Done(), h.crew.Context().Done(), w, allowed)
	return nil
}

// first waits a moment for the first read.
func (w *watched) first(r *http.Request) *state {
	now := w.last.Load()
	if now.events != nil {
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

// stream is one open answer.
type stream struct {
	out     http.ResponseWriter
	control *http.ResponseController
	sent    []string // the events that the client has
}

// follow sends what is read, and a beat now and then: it finds out that the client has gone, and
// tells the client that the stream lives.
func (s *stream) follow(gone, closing <-chan struct{}, w *watched, allowed func() bool) {
	beat, check, end := time.NewTicker(beatEvery), time.NewTicker(checkEvery), time.NewTimer(streamMost)
	defer beat.Stop()
	defer check.Stop()
	defer end.Stop()
	now := w.last.Load()
	for well := s.send(now); well; {
		select {
		case <-now.replaced:
			now = w.last.Load()
			well = allowed() && s.send(now)
		case <-check.C:
			well = allowed()
		case <-beat.C:
			well = s.write(event("beat", "."))
		case <-end.C:
			return
		case <-gone:
			return
		case <-closing:
			return
		}
	}
}

// send sends the events that the client has not got.
func (s *stream) send(now *state) bool {
	var text string
	for i, event := range now.events {
		if i >= len(s.sent) || s.sent[i] != event {
			text += event
		}
	}
	s.sent = now.events
	return text == "" || s.write(text)
}

// write reports whether the client has taken a text, or has room for it.
func (s *stream) write(text string) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := s.out.Write([]byte(text))
	return err == nil && s.control.Flush() == nil
}
