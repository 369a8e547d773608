package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pgtaskd/conf"
	"pgtaskd/web/edit"
	"pgtaskd/web/login"
)

// front answers requests under one version of the settings and the targets.
type front struct {
	site     *Site
	settings conf.HTTP
	bound    net.Addr
	pair     *pair // for TLS; nil: none
	users    *login.Users
	closed   string // why the page is not served; "": it is
	names    []string
	ends     chan struct{} // closed when another one has taken over
}

func newFront(s *Site, settings conf.HTTP, bound net.Addr, pair *pair) *front {
	name, _, _ := net.SplitHostPort(settings.Listen)
	settings.Users = slices.Clone(settings.Users) // Listen compares them with the next ones
	return &front{
		site: s, settings: settings, bound: bound, pair: pair, closed: settings.ClosedAt(bound),
		users: login.New(settings.Users, settings.Prefix, pair != nil, s.tries),
		names: append([]string{"localhost", "", strings.ToLower(name)}, settings.Hosts...),
		ends:  make(chan struct{}),
	}
}

// request is a request on its route, with its sender.
type request struct {
	*front
	*http.Request
	w    http.ResponseWriter
	user login.User
}

// ServeHTTP answers one request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.answering.RLock()
	defer s.answering.RUnlock()
	f := s.front.Load()
	if f == nil { // the server closes
		http.Error(w, "the server closes", http.StatusServiceUnavailable)
		return
	}
	q := &request{front: f, Request: r, w: w}
	if err := q.serve(); err != nil {
		q.fail(err)
	}
}

// headers keep browsers from running, framing, storing or passing on anything.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options":        "DENY",
	"Referrer-Policy":        "no-referrer",
	"Cache-Control":          "no-store",
}

// serve answers a request if everything about it is right.
func (q *request) serve() error {
	for name, value := range headers {
		q.w.Header().Set(name, value)
	}
	methods := routes[q.below()]
	monitor := monitors(q.below())
	switch {
	case !q.meant() && !(monitor && !q.loopback()):
		return edit.Refuse(http.StatusMisdirectedRequest, `ask by the address in http.listen or by localhost, or write the name into the configuration: "http": {"hosts": ["…"]}`)
	case q.closed != "" && !monitor:
		return edit.Refuse(http.StatusForbidden, "%s", q.closed)
	case !monitor && q.URL.Path == q.settings.Prefix && q.settings.Prefix != "" && reads(q.Method):
		return q.redirect(http.StatusMovedPermanently, q.settings.Prefix+"/", q.URL.RawQuery)
	case methods == nil:
		return edit.Refuse(http.StatusNotFound, "there is no such page; the home page is %s/", q.settings.Prefix)
	}
	for _, route := range methods {
		if route.method == q.Method || route.method == http.MethodGet && q.Method == http.MethodHead {
			return q.admitted(route)
		}
	}
	allowed := []string{}
	for _, route := range methods {
		if allowed = append(allowed, route.method); route.method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	q.w.Header().Set("Allow", strings.Join(allowed, ", "))
	return edit.Refuse(http.StatusMethodNotAllowed, "this URL takes only %s", strings.Join(allowed, ", "))
}

// admitted answers on a route if the sender may use it.
func (q *request) admitted(route route) (err error) {
	if route.method == http.MethodPost {
		switch {
		case q.users.None():
			return edit.Refuse(http.StatusForbidden, `nobody may act, as there are no users; write "users": [{"name": "ann", "token_file": "…", "role": "operator"}] into "http"`)
		case login.CrossSite(q.Request):
			return edit.Refuse(http.StatusForbidden, "the request comes from another site: open the page itself, or send a token in the header Authorization: Bearer")
		}
		q.Body = http.MaxBytesReader(q.w, q.Body, max(route.most, bodyMost))
	}
	if route.least > login.Nobody {
		q.user, err = q.users.Who(q.Request)
		switch {
		case err != nil:
			return err
		case q.user.Role == login.Nobody:
			return edit.Refuse(http.StatusUnauthorized, "log in, or send the header Authorization: Bearer with a token")
		case q.user.Role < route.least:
			return edit.Refuse(http.StatusForbidden, "a reader may not act: log in with the token of an operator")
		}
	}
	return route.answer(q)
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// below returns the path below the prefix; "" if there is none. Monitoring needs no prefix.
func (q *request) below() string {
	if path, inside := strings.CutPrefix(q.URL.Path, q.settings.Prefix); inside && strings.HasPrefix(path, "/") {
		return path
	}
	if monitors(q.URL.Path) {
		return q.URL.Path
	}
	return ""
}

// monitors reports whether a path below the prefix is one of monitoring.
func monitors(path string) bool { return len(routes[path]) > 0 && routes[path][0].monitor }

func (q *request) loopback() bool {
	at, is := q.bound.(*net.TCPAddr)
	return is && at.IP.IsLoopback()
}

// meant reports whether the request names this server. Otherwise a web page whose host name
// resolves to this machine could read everything through the browser of somebody who works here.
func (q *request) meant() bool {
	named := strings.TrimSuffix(host(q.Host), ".")
	if slices.Contains(q.names, named) {
		return named != "" || monitors(q.below()) // HTTP/1.0 names nobody
	}
	address, err := netip.ParseAddr(named)
	if err != nil {
		return false
	}
	local, _ := q.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return address.Unmap().IsLoopback() || local != nil && same(address, local.AddrPort().Addr()) || slices.ContainsFunc(q.names, func(name string) bool {
		known, err := netip.ParseAddr(name)
		return err == nil && same(address, known)
	})
}

func same(a, b netip.Addr) bool { return a.Unmap().WithZone("") == b.Unmap().WithZone("") }

// host returns the host of an address that may have a port, in lower case.
func host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}
