package web

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/work/target"
)

// BenchmarkScrape reads the metrics of 300 targets that all have something to show.
func BenchmarkScrape(b *testing.B) {
	s := New(zerolog.Nop(), "v1")
	targets := make([]target.Target, 300)
	for i := range targets {
		targets[i] = target.Target{Schema: "public", Table: "task", Connect: map[string]string{"dbname": "database" + string(rune('a'+i%26)) + string(rune('a'+i/26))}, Stats: target.NewStats()}
		targets[i].Stats.Sees(target.Survey{Successes: map[string]time.Time{"nightly": time.Unix(1, 0)}})
	}
	s.Show(targets)
	b.Cleanup(s.Close)
	if err := s.Listen(conf.HTTP{Listen: "127.0.0.1:0"}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
		b.SetBytes(int64(w.Body.Len()))
	}
}
