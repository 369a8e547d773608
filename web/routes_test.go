package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/work/target"
)

var people = []conf.User{{Name: "ann", Token: "acts", Operator: true}, {Name: "wall", Token: "reads"}}

// withUsers returns a site with an operator and a reader. Other settings may be given.
func withUsers(t *testing.T, change func(*conf.HTTP)) *site {
	t.Helper()
	s := &site{New(zerolog.Nop(), "v1"), t}
	t.Cleanup(s.Close)
	settings := conf.HTTP{Listen: "127.0.0.1:0", Users: people}
	if change != nil {
		change(&settings)
	}
	if err := s.Listen(settings); err != nil {
		t.Fatal(err)
	}
	return s
}

var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// ask sends a request, with headers by name and value, and returns the answer with its text.
func (s *site) ask(method, path, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	f := s.front.Load()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+f.bound.String()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if request.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response, string(text)
}

// TestEachRouteNeedsItsRole: asked as nobody, as a reader, as an operator, and without users.
func TestEachRouteNeedsItsRole(t *testing.T) {
	t.Parallel()
	open := []string{"/healthz", "/readyz", "/metrics", "/login", "/logout"}
	s, free := withUsers(t, nil), opened(t)
	for _, r := range table {
		switch {
		case r.least == login.Nobody && !slices.Contains(open, r.path) && !strings.HasPrefix(r.path, "/static/"):
			t.Errorf("%s is open to everybody", r.path)
		case r.method == http.MethodPost && r.least != login.Operator && !slices.Contains(open, r.path):
			t.Errorf("POST %s needs no operator", r.path)
		}
		if r.path == "/events" {
			r.path += "?page=/none" // else it is a stream
		}
		for _, c := range []struct {
			role  login.Role
			token string
		}{{login.Nobody, ""}, {login.Nobody, "cookie"}, {login.Reader, "reads"}, {login.Operator, "acts"}} {
			headers := []string{}
			if c.token == "cookie" {
				headers = []string{"Cookie", "pgtaskd=YW5u.9999999999.AAAA"}
			} else if c.token != "" {
				headers = []string{"Authorization", "Bearer " + c.token}
			}
			response, text := s.ask(r.method, r.path, "", headers...)
			refused := response.StatusCode == 401 || response.StatusCode == 403
			switch {
			case r.path == "/login":
			case c.role == login.Nobody && r.least > login.Nobody:
				if response.StatusCode != 401 {
					t.Errorf("%s %s as nobody: %d", r.method, r.path, response.StatusCode)
				}
				if form := strings.Contains(text, `action="/login"`); form != r.form {
					t.Errorf("%s as nobody has a form: %t", r.path, form)
				}
			case c.role < r.least:
				if response.StatusCode != 403 {
					t.Errorf("%s %s as %s: %d", r.method, r.path, c.token, response.StatusCode)
				}
			case refused:
				t.Errorf("%s %s as %q: %d %s", r.method, r.path, c.token, response.StatusCode, text)
			}
		}
		response, text := free.ask(r.method, r.path, "")
		if refused := response.StatusCode == 401 || response.StatusCode == 403; refused != (r.method == http.MethodPost) {
			t.Errorf("%s %s without users: %d %s", r.method, r.path, response.StatusCode, text)
		}
		for name, value := range headers {
			if got := response.Header.Get(name); got != value {
				t.Errorf("%s %s: %s is %q", r.method, r.path, name, got)
			}
		}
	}
}

// TestLoginByTheForm: it leads back, sets a cookie, and logout takes it away.
func TestLoginByTheForm(t *testing.T) {
	t.Parallel()
	s := withUsers(t, func(h *conf.HTTP) { h.Prefix = "/jobs" })
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	_, text := s.ask("GET", "/jobs/errors?tz=UTC&target=%22%3E%3Cb", "")
	if !strings.Contains(text, `action="/jobs/login"`) || !strings.Contains(text, `value="/jobs/errors?tz=UTC&amp;target=%22%3E%3Cb"`) {
		t.Error(text)
	}
	response, text := s.ask("POST", "/jobs/login", "token=wrong&back=/jobs/errors", form...)
	if response.StatusCode != 401 || !strings.Contains(text, `value="/jobs/errors"`) || len(response.Cookies()) > 0 {
		t.Errorf("%v %s", response, text)
	}
	for back, want := range map[string]string{"/jobs/errors?tz=UTC": "/jobs/errors?tz=UTC", "//evil.example": "/jobs/", "/jobs/login?back=x": "/jobs/"} {
		response, _ = s.ask("POST", "/jobs/login", url.Values{"token": {"acts\n"}, "back": {back}}.Encode(), form...)
		if response.StatusCode != 303 || response.Header.Get("Location") != want {
			t.Errorf("%s: %v", back, response)
		}
	}
	cookie := response.Cookies()[0]
	if response, _ = s.ask("POST", "/jobs/act", "", "Cookie", cookie.Name+"="+cookie.Value); response.StatusCode == 401 || response.StatusCode == 403 {
		t.Errorf("the cookie is not believed: %d", response.StatusCode)
	}
	response, _ = s.ask("POST", "/jobs/logout", "", "Cookie", cookie.Name+"="+cookie.Value)
	if c := response.Cookies(); response.StatusCode != 303 || len(c) != 1 || c[0].MaxAge >= 0 || c[0].Path != cookie.Path {
		t.Errorf("%v", response)
	}
	for range 10 {
		response, text = s.ask("POST", "/jobs/login", "token=wrong", append(form, "X-Forwarded-For", "192.0.2.1")...)
	}
	if response.StatusCode != 429 || !strings.Contains(text, "try again") {
		t.Errorf("%v %s", response, text)
	}
	if response, _ = s.ask("POST", "/jobs/login", "token=reads", form...); response.StatusCode != 303 {
		t.Errorf("who has a good token is not let in: %d", response.StatusCode)
	}
	if response, _ = s.ask("GET", "/jobs/errors", "", "Authorization", "Bearer wrong"); response.StatusCode != 429 {
		t.Errorf("another way in has tries of its own: %d", response.StatusCode)
	}
}

// TestActsAfterTheLoginHasEnded: a browser gets the form, which leads back to the filter.
func TestActsAfterTheLoginHasEnded(t *testing.T) {
	t.Parallel()
	s := withUsers(t, nil)
	for back, want := range map[string]string{"/tasks?state=FAIL": "/tasks?state=FAIL", "https://evil.example/": "/"} {
		response, text := s.ask("POST", "/act", url.Values{"do": {"cancel"}, "back": {back}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
		if response.StatusCode != 401 || !strings.Contains(text, `action="/login"`) || !strings.Contains(text, `value="`+want+`"`) {
			t.Errorf("%d %s", response.StatusCode, text)
		}
	}
}

// TestHiddenFromReaders: what they do not see is not found by a search, either. An operator sees it.
func TestHiddenFromReaders(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	servertest.Exec(t, servertest.Connect(t, dsn), `INSERT INTO task (id, input, data, plan, "group") VALUES (1, 'SELECT ''secret''', 'secret', now() + interval '1 day', 'grouped')`)
	s := withUsers(t, func(h *conf.HTTP) { h.Hide = []string{"data", "input", "output"} })
	to := single(t, dsn)
	to.Stats = target.NewStats()
	s.Show([]target.Target{to})
	for _, path := range []string{"/tasks", "/tasks.json", "/tasks?q=secret", "/tasks.json?q=secret", "/task?id=1", "/task.json?id=1"} {
		search := strings.Contains(path, "q=")
		for token, sees := range map[string]bool{"reads": false, "acts": true} {
			response, text := s.ask("GET", path, "", "Authorization", "Bearer "+token)
			found, shown := strings.Contains(text, "grouped"), strings.Contains(text, "SELECT")
			if response.StatusCode != 200 || shown != sees || found != (sees || !search) {
				t.Errorf("%s as %s: %d, shown %t, found %t: %s", path, token, response.StatusCode, shown, found, text)
			}
		}
	}
}

// TestRequestsOfOtherSitesDoNotAct: nor log anybody in or out.
func TestRequestsOfOtherSitesDoNotAct(t *testing.T) {
	t.Parallel()
	s := withUsers(t, nil)
	for _, path := range []string{"/act", "/group", "/login", "/logout"} {
		for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "http://evil.example"}} {
			if response, text := s.ask("POST", path, "token=acts", "Authorization", "Bearer acts", header[0], header[1]); response.StatusCode != 403 || !strings.Contains(text, "another site") {
				t.Errorf("%s: %d %s", path, response.StatusCode, text)
			}
		}
	}
}

// TestPathsBelowThePrefix: only monitoring is at the root, too.
func TestPathsBelowThePrefix(t *testing.T) {
	t.Parallel()
	s := withUsers(t, func(h *conf.HTTP) { h.Prefix = "/health" })
	for path, want := range map[string]int{
		"/healthz": 200, "/metrics": 200, "/readyz": 200, "/health/healthz": 200, "/health/metrics": 200,
		"/health": 301, "/health?tz=UTC": 301, "/health/errors": 401, "/health/errors.json": 401, "/health/static/app.css": 200, "/health/login": 200,
		"/errors": 404, "/": 404, "/static/app.css": 404, "/healthx/errors": 404, "/health//errors": 404, "/health/static/": 404, "/health/static/../errors": 404,
	} {
		response, text := s.ask("GET", path, "", "X-Forwarded-Prefix", "/other")
		if response.StatusCode != want || strings.Contains(text, "/other") {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
		if to := response.Header.Get("Location"); want == 301 && to != strings.Replace(path, "/health", "/health/", 1) {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	if s.URL() != "http://"+s.front.Load().bound.String()+"/health" {
		t.Error(s.URL())
	}
	if response, _ := s.ask("PUT", "/health/login", ""); response.StatusCode != 405 || response.Header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("%v", response)
	}
}

// TestHostsOfThePage: the names of this server, with any port. Monitoring takes any, unless the
// address is a loopback one.
func TestHostsOfThePage(t *testing.T) {
	t.Parallel()
	wide := withUsers(t, func(h *conf.HTTP) {
		h.Listen, h.Hosts = "0.0.0.0:0", []string{"jobs.example", "192.0.2.9", "2001:db8::1"}
	})
	wide.front.Load().bound.(*net.TCPAddr).IP = net.IPv4(127, 0, 0, 2)
	for host, want := range map[string]int{
		"127.0.0.1": 401, "localhost:1": 401, "127.0.0.2:80": 401, "jobs.example": 401, "JOBS.example.:443": 401, "192.0.2.9": 401, "[2001:db8:0::1]:80": 401,
		"evil.example": 421, "jobs.example.evil": 421, "x.jobs.example": 421, "192.0.2.1": 421, "[2001:db8::2]": 421, "0.0.0.0": 401,
	} {
		if response, text := wide.ask("GET", "/errors", "", "Host", host); response.StatusCode != want || want == 421 && !strings.Contains(text, `"hosts"`) {
			t.Errorf("%s: %d %s", host, response.StatusCode, text)
		}
	}
}

// TestAddressOfOthersWithoutUsers: the page is not served there, and everything says what to write.
func TestAddressOfOthersWithoutUsers(t *testing.T) {
	t.Parallel()
	var log lockedText
	s := &site{New(zerolog.New(&log), "v1"), t}
	t.Cleanup(s.Close)
	if err := s.Listen(conf.HTTP{Listen: "0.0.0.0:0"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 200, "/readyz": 200, "/": 403, "/errors": 403, "/errors.json": 403, "/events": 403, "/login": 403, "/static/app.css": 403} {
		host := "localhost"
		if want == 200 {
			host = "anything.example"
		}
		if response, text := s.ask("GET", path, "", "Host", host); response.StatusCode != want || want == 403 && !strings.Contains(text, `"users"`) {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
	}
	if text := log.String(); !strings.Contains(text, `"level":"warn"`) || !strings.Contains(text, "the page is not served, only health and metrics") {
		t.Error(text)
	}
	if err := s.Listen(conf.HTTP{Listen: "0.0.0.0:0", Users: people}); err != nil {
		t.Fatal(err)
	}
	if response, _ := s.ask("GET", "/errors", "", "Host", "localhost"); response.StatusCode != 401 {
		t.Errorf("with users: %d", response.StatusCode)
	}
}

// TestSettingsChangeWhileServed: the address stays, and with it the connections.
func TestSettingsChangeWhileServed(t *testing.T) {
	t.Parallel()
	s := withUsers(t, nil)
	bearer := []string{"Authorization", "Bearer acts"}
	if response, _ := s.ask("GET", "/errors", "", bearer...); response.StatusCode != 400 { // there is no target
		t.Errorf("%d", response.StatusCode)
	}
	bound, before := s.front.Load().bound.String(), s.front.Load().ends
	if err := s.Listen(conf.HTTP{Listen: "127.0.0.1:0", Users: []conf.User{{Name: "ann", Token: "new"}}, Prefix: "/jobs", Hosts: []string{"jobs.example"}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-before:
	default:
		t.Error("the streams go on")
	}
	if s.front.Load().bound.String() != bound {
		t.Error("the address has changed")
	}
	if response, _ := s.ask("GET", "/jobs/errors", "", bearer...); response.StatusCode != 401 {
		t.Errorf("the token before: %d", response.StatusCode)
	}
	if response, _ := s.ask("GET", "/jobs/errors", "", "Authorization", "Bearer new", "Host", "jobs.example"); response.StatusCode != 400 {
		t.Errorf("the new token: %d", response.StatusCode)
	}
}

// TestBodiesAreBounded: that of an act may be longer.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	s := withUsers(t, nil)
	if response, _ := s.ask("POST", "/login", "token="+strings.Repeat("x", bodyMost), "Content-Type", "application/x-www-form-urlencoded"); response.StatusCode != 413 {
		t.Errorf("%d", response.StatusCode)
	}
}

// TestPagesAnswerInJSON: with what is in the table, and an error on one line.
func TestPagesAnswerInJSON(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	s, to := opened(t), single(t, dsn)
	s.serves(to)
	servertest.Wait(t, patience, "a leader", func() bool { status, _ := s.get("/readyz"); return status == 200 })
	conn := servertest.Connect(t, dsn)
	servertest.Exec(t, conn, `INSERT INTO task (input) VALUES ('SELECT ''<&>''::int')`)
	servertest.Wait(t, patience, "an error", func() bool { _, text := s.get("/errors.json"); return text != "[]\n" })
	response, text := s.ask("GET", "/errors.json?target="+url.QueryEscape(to.Name())+"&tz=UTC", "")
	var found []map[string]any
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found) != 1 || found[0]["sqlstate"] != "22P02" || !strings.Contains(text, `<&>`) || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v %v %s", err, response, text)
	}
	if response, text := s.ask("HEAD", "/errors", ""); response.StatusCode != 200 || text != "" || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%v", response)
	}
	for query, want := range map[string]string{
		"stat=FAIL": `this page has no parameter "stat"`, "target=x": "", "target=" + url.QueryEscape(to.Name()) + "&target=x": "target is given twice",
		"%zz": "cannot be read", "a%00%1b=1": `a\x00\x1b`,
	} {
		for _, path := range []string{"/errors.json?", "/errors?"} {
			if response, text := s.ask("GET", path+query, ""); response.StatusCode != 400 || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
				t.Errorf("%s%s: %d %s", path, query, response.StatusCode, text)
			}
			if response, text := s.ask("GET", path+query, "", "Accept", "text/html"); response.StatusCode != 400 || !strings.Contains(text, "</html>") {
				t.Errorf("%s%s as a browser: %d %s", path, query, response.StatusCode, text)
			}
		}
	}
	s.Show([]target.Target{single(t, "host=127.0.0.1 port=1 user=u dbname=away")})
	for _, path := range []string{"/errors.json", "/errors"} {
		if response, text := s.ask("GET", path, ""); response.StatusCode != 503 || !strings.Contains(text, "cannot connect") || strings.Count(text, "\n") != 1 {
			t.Errorf("%s of a server that is away: %d %s", path, response.StatusCode, text)
		}
	}
}

// TestNextPageIsLinked: below the prefix, and from JSON to JSON.
func TestNextPageIsLinked(t *testing.T) {
	t.Parallel()
	s := withUsers(t, func(h *conf.HTTP) { h.Prefix = "/jobs" })
	q := &request{front: s.front.Load(), w: recorder{http.Header{}}}
	q.next(&page.Content{Next: "/jobs/tasks?after=5&state=FAIL"}, "/tasks.json")
	if link := q.w.Header().Get("Link"); link != `</jobs/tasks.json?after=5&state=FAIL>; rel="next"` {
		t.Error(link)
	}
}

type recorder struct{ header http.Header }

func (r recorder) Header() http.Header       { return r.header }
func (r recorder) Write([]byte) (int, error) { return 0, nil }
func (r recorder) WriteHeader(int)           {}

// TestCertificateIsReadAgain: when its files change. A pair that does not fit leaves the one before.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	first := writePair(t, cert, key)
	var log lockedText
	s := &site{New(zerolog.New(&log), "v1"), t}
	t.Cleanup(s.Close)
	settings := conf.HTTP{Listen: "127.0.0.1:0", Users: people, Cert: cert, Key: key}
	if err := s.Listen(settings); err != nil {
		t.Fatal(err)
	}
	at := strings.TrimPrefix(s.URL(), "https://")
	serial := func() *big.Int {
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}).PostForm(s.URL()+"/login", url.Values{"token": {"acts"}})
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != 303 || !response.Cookies()[0].Secure || response.ProtoMajor != 2 {
			t.Errorf("%v", response)
		}
		return response.TLS.PeerCertificates[0].SerialNumber
	}
	if got := serial(); got.Cmp(first) != 0 {
		t.Errorf("%v", got)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := serial(); got.Cmp(first) != 0 {
			t.Errorf("%v", got)
		}
	}
	if n := strings.Count(log.String(), "cannot read the new certificate"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log.String())
	}
	if second := writePair(t, cert, key); serial().Cmp(second) != 0 {
		t.Error("the certificate before stays")
	}
	settings.Cert, settings.Key = "", ""
	if err := s.Listen(settings); err != nil || s.URL() != "http://"+at {
		t.Errorf("%v %s", err, s.URL())
	}
	if status, _ := s.get("/healthz"); status != 200 {
		t.Errorf("without TLS: %d", status)
	}
}

// writePair makes a certificate and returns its serial number.
func writePair(t *testing.T, cert, key string) *big.Int {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour)}
	text, err := x509.CreateCertificate(rand.Reader, of, of, &made.PublicKey, made)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: text}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return of.SerialNumber
}

// lockedText is a log that several goroutines write.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
