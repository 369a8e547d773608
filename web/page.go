package web

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/prometheus/common/expfmt"

	"pgtaskd/work"
)

// page is what is served of the metrics. It keeps what was written of each target, and writes again
// what has changed: with hundreds of targets a registry takes ten times as long.
type page struct {
	mu   sync.Mutex
	last int // length
}

// written is what was written of a target. It belongs to who holds the page's lock.
type written struct {
	figures work.Figures
	begun   bool
	values  []any
	texts   [][]byte
}

// update writes again what has changed.
func (w *written) update(name string, f work.Figures) error {
	if w.begun && w.figures == f {
		return nil
	}
	if w.values == nil {
		w.values, w.texts = make([]any, len(kinds)), make([][]byte, len(kinds))
	}
	for i := range kinds {
		value := kinds[i].of(&f)
		if w.begun && value == w.values[i] {
			continue
		}
		text, err := kinds[i].text(name, value)
		if err != nil {
			return err
		}
		w.values[i], w.texts[i] = value, text
	}
	w.figures, w.begun = f, true
	return nil
}

// metrics answers with all metrics in Prometheus' text format.
func (s *Site) metrics(w http.ResponseWriter, _ *http.Request) {
	text, err := s.text()
	if err != nil {
		answer(w, http.StatusInternalServerError, line(err.Error()))
		return
	}
	w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // who is gone does not want to know
}

// text is that of the metrics.
func (s *Site) text() ([]byte, error) {
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	var b bytes.Buffer
	b.Grow(s.page.last + s.page.last/8)
	own, err := s.registry.Gather()
	if err != nil {
		return nil, err
	}
	for _, family := range own {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return nil, err
		}
	}
	targets := s.targets()
	for _, t := range targets {
		if err := t.written.update(t.name, t.stats.Read()); err != nil {
			return nil, err
		}
	}
	for i := range kinds {
		head := kinds[i].head()
		for _, t := range targets {
			if text := t.written.texts[i]; len(text) > 0 {
				b.Write(head)
				b.Write(text)
				head = nil
			}
		}
	}
	s.page.last = b.Len()
	return b.Bytes(), nil
}
