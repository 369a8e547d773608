package web

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// BenchmarkScrape reads the metrics of 300 targets, all of which have something to show.
func BenchmarkScrape(b *testing.B) {
	s := New(zerolog.Nop(), "v1")
	targets := make([]work.Target, 300)
	for i := range targets {
		targets[i] = work.Target{Schema: "public", Table: "task", Connect: map[string]string{"dbname": "database" + string(rune('a'+i%26)) + string(rune('a'+i/26))}, Stats: work.NewStats()}
		targets[i].Stats.Sees(work.Survey{Successes: map[string]time.Time{"nightly": time.Unix(1, 0)}})
	}
	s.Show(targets)
	handler := routes(s.targets, s.page)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		b.SetBytes(int64(w.Body.Len()))
	}
}
