package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"pgtaskd/human"
)

// routes answers GET and HEAD for all paths of the site.
func routes(all *targets) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", all.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", all.ready)
	return mux
}

// ready answers 200 if each target is led or stood by for; else 503 with one line for each reason.
func (all *targets) ready(w http.ResponseWriter, _ *http.Request) {
	var reasons []string
	for _, t := range all.list() {
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
	_, _ = fmt.Fprintln(w, text) // an error means that the client has gone
}

// line writes a text on one line of at most 1000 bytes, with hidden characters as escapes.
func line(text string) string {
	const most = 1000
	text = human.Visible(text)
	return strings.ToValidUTF8(text[:min(len(text), most)], "?")
}

// guarded protects a server on a loopback address. Requests must name it by an IP address, by
// localhost, or by the configured name. Otherwise a web page whose host name resolves to this
// machine could read the metrics through the browser of somebody who works here.
func guarded(configured string, bound net.Addr, answers http.Handler) http.Handler {
	if at, ok := bound.(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return answers
	}
	own := host(configured)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named := host(r.Host)
		_, err := netip.ParseAddr(named)
		if err != nil && named != "" && named != "localhost" && named != own {
			answer(w, http.StatusMisdirectedRequest, "ask by an IP address, by localhost, or by the name in http.listen")
			return
		}
		answers.ServeHTTP(w, r)
	})
}

// host returns the host of an address that may have a port, in lower case.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}
