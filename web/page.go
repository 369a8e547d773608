package web

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// page writes the metrics. It keeps the written text of each target, and writes again only what has
// changed: with hundreds of targets a registry takes ten times as long.
type page struct {
	targets  *targets
	registry *prometheus.Registry // of metrics that belong to no target

	mu   sync.Mutex
	last int // length
}

func newPage(all *targets, version string) *page {
	p := &page{targets: all, registry: prometheus.NewRegistry()}
	p.registry.MustRegister(build(version))
	return p
}

// ServeHTTP answers with all metrics in Prometheus' text format.
func (p *page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text, err := p.text()
	if err != nil {
		answer(w, http.StatusInternalServerError, line(err.Error()))
		return
	}
	w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // a client that has gone needs no answer
}

// text is that of the metrics.
func (p *page) text() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b bytes.Buffer
	b.Grow(p.last + p.last/8)
	own, err := p.registry.Gather()
	if err != nil {
		return nil, err
	}
	for _, family := range own {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return nil, err
		}
	}
	targets := p.targets.list()
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
	p.last = b.Len()
	return b.Bytes(), nil
}
