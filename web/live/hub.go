package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/web/rows"
)

const (
	readEvery = time.Second      // a view, at the most
	share     = 10               // reads of a server take one part in this many of the time
	burst     = 5 * time.Second  // of unused time that counts: the first read also connects
	restMost  = 10 * time.Second // after a read, however long it took
	retryMost = 30 * time.Second // after errors
	readLimit = 15 * time.Second
)

// view is a page as it is shown to all who make the same request with the same rights. Its parts
// are HTML; each is sent again when it has changed.
type view struct {
	key    key
	server string // views of one server take turns
	render func(context.Context) (parts []string, err error)
}

// key is the same for streams of the same view.
type key struct {
	page string
	ends <-chan struct{} // of the settings of the site: others may have other targets
}

// Hub reads the pages that are watched.
type Hub struct {
	sessions *rows.Sessions
	log      zerolog.Logger
	crew     *routine.Group

	mu      sync.Mutex
	views   map[key]*watched
	readers map[string]chan struct{} // by server: wake the goroutine that reads its views
}

// watched is a view that somebody watches. Hub.mu guards what is not atomic.
type watched struct {
	view
	streams int
	due     time.Time // of its next read
	fails   int       // reads since the last good one
	last    atomic.Pointer[state]
}

// New returns a Hub. Close ends it.
func New(s *rows.Sessions, log zerolog.Logger) *Hub {
	return &Hub{sessions: s, log: log, crew: routine.New(context.Background()), views: map[key]*watched{}, readers: map[string]chan struct{}{}}
}

// Close ends all streams and reads, and waits for the reads.
func (h *Hub) Close() {
	h.mu.Lock()
	h.crew.End()
	h.mu.Unlock()
	h.crew.Wait()
}

// join adds a stream to a view; nil if the hub is closed.
func (h *Hub) join(v view) *watched {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.crew.Context().Err() != nil {
		return nil
	}
	w := h.views[v.key]
	if w == nil {
		w = &watched{view: v}
		w.last.Store(&state{replaced: make(chan struct{})})
		h.views[v.key] = w
		h.wake(v.server)
	}
	w.streams++
	return w
}

func (h *Hub) leave(w *watched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.streams--; w.streams == 0 {
		delete(h.views, w.key)
		h.wake(w.server)
	}
}

// wake tells the reader of a server that its views have changed, or starts one.
func (h *Hub) wake(server string) {
	wake := h.readers[server]
	if wake == nil {
		wake = make(chan struct{}, 1)
		h.readers[server] = wake
		h.crew.Go(func() { h.readAll(server, wake) })
	}
	select {
	case wake <- struct{}{}:
	default:
	}
}

// readAll reads the views of a server until nobody watches one.
func (h *Hub) readAll(server string, wake <-chan struct{}) {
	var rested time.Time // when the reads up to now will have taken no more than their share
	for {
		w, due := h.next(server)
		if w == nil {
			return
		}
		if wait := time.Until(latest(due, rested)); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-wake: // the next one may be another
			case <-h.crew.Context().Done():
				return
			}
			timer.Stop()
			continue
		}
		began := time.Now()
		h.read(w, began)
		now := time.Now()
		rested = latest(rested, began.Add(-burst)).Add(share * now.Sub(began))
		if most := now.Add(restMost); rested.After(most) {
			rested = most
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// next returns the view of a server that is due first, and when. If there is none, its reader has
// ended.
func (h *Hub) next(server string) (*watched, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ours := slices.DeleteFunc(slices.Collect(maps.Values(h.views)), func(w *watched) bool { return w.server != server })
	if len(ours) == 0 {
		delete(h.readers, server)
		return nil, time.Time{}
	}
	first := slices.MinFunc(ours, func(a, b *watched) int { return a.due.Compare(b.due) })
	return first, first.due
}

// read reads a view, and tells its streams what has changed.
func (h *Hub) read(w *watched, began time.Time) {
	ctx, cancel := context.WithTimeout(h.crew.Context(), readLimit)
	defer cancel()
	var parts []string
	err := routine.Guard(func() (err error) { parts, err = w.render(ctx); return err })
	var panicked *routine.Panic
	if errors.As(err, &panicked) {
		h.log.Error().Str("stack", string(panicked.Stack)).Err(err).Msg("a page panicked")
		err = errors.New("the page has a fault: the log of the controller says more")
	}
	before := w.last.Load()
	now := before.next(parts, err)
	if !now.same(before) {
		w.last.Store(now)
		close(before.replaced)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		w.due, w.fails = began.Add(max(readEvery, now.rest())), 0
		return
	}
	w.due = time.Now().Add(min(readEvery<<w.fails, retryMost))
	w.fails = min(w.fails+1, 5)
}
