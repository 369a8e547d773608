package web

import (
	"fmt"
	"net/http"
	"strings"
)

// handler answers GET and HEAD; the paths are all there are.
func (s *Site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	return mux
}

// ready answers 200 where each target is led or stood by for, else 503 with the reasons, a line
// each.
func (s *Site) ready(w http.ResponseWriter, _ *http.Request) {
	var reasons []string
	for _, t := range s.targets() {
		standing := t.stats.Standing()
		switch {
		case standing.Leads, standing.StandsBy:
		case standing.Fault != "":
			reasons = append(reasons, line(t.name+": "+standing.Fault))
		default:
			reasons = append(reasons, line(t.name+": neither led nor stood by for, as it starts, tries again or drains"))
		}
	}
	if len(reasons) > 0 {
		answer(w, http.StatusServiceUnavailable, strings.Join(reasons, "\n"))
		return
	}
	answer(w, http.StatusOK, "ok")
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // who is gone does not want to know
}

// line is a text on one line, of at most 1000 bytes.
func line(text string) string {
	const most = 1000
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), most)], "?")
}
