package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// TestReadyNamesTargetsThatAreNotServed: a line for each, with the reason. A target that another
// controller leads counts as ready.
func TestReadyNamesTargetsThatAreNotServed(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	first, second := opened(t), opened(t)
	led, away := single(t, dsn), single(t, "host=127.0.0.1 port=1 user=u password=hidden dbname=away\n")
	first.serves(led, away)
	servertest.Wait(t, patience, "a reason", func() bool {
		status, text := first.get("/readyz")
		return status == http.StatusServiceUnavailable && strings.HasPrefix(text, "away/public/task: ") && strings.Contains(text, "refused") && strings.Count(text, "\n") == 1
	}, func() string { _, text := first.get("/readyz"); return text })
	if status, text := first.get("/readyz"); strings.Contains(text, "hidden") {
		t.Errorf("%d %s", status, text)
	}
	second.serves(led)
	servertest.Wait(t, patience, "a follower", func() bool {
		status, text := second.get("/readyz")
		return status == http.StatusOK && text == "ok\n"
	})
	named := `{target="` + led.Name() + `"}`
	second.show("a follower", func(m map[string]float64) bool {
		return m["pgtaskd_follower"+named] == 1 && m["pgtaskd_leader"+named] == 0
	})
	for _, s := range []*site{first, second} {
		if status, text := s.get("/healthz"); status != http.StatusOK || text != "ok\n" {
			t.Errorf("%d %s", status, text)
		}
	}
}

// TestNotReadyWithoutSessions: a leader that cannot open the session that a task waits for, while
// nothing runs, says so until it can.
func TestNotReadyWithoutSessions(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	admin := servertest.Connect(t, dsn)
	role := "worker_" + servertest.Get(t, admin, "SELECT pg_backend_pid()")
	servertest.Exec(t, admin, "CREATE ROLE "+role+" LOGIN; ALTER TABLE task OWNER TO "+role+"; GRANT CREATE ON SCHEMA public TO "+role)
	t.Cleanup(func() {
		if _, err := admin.PgConn().Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role).ReadAll(); err != nil {
			t.Error(err)
		}
	})
	s, to := opened(t), single(t, dsn+" user="+role)
	to.Trust = []string{"PUBLIC"}
	answers := func(what string, status int, has ...string) {
		t.Helper()
		servertest.Wait(t, patience, what, func() bool {
			got, text := s.get("/readyz")
			return got == status && !slices.ContainsFunc(has, func(part string) bool { return !strings.Contains(text, part) })
		}, func() string { _, text := s.get("/readyz"); return text })
	}
	s.serves(to)
	s.show("a leader", func(m map[string]float64) bool { return m[`pgtaskd_leader{target="`+to.Name()+`"}`] == 1 })
	answers("ready", http.StatusOK)
	for _, c := range []struct{ breaks, mends, says string }{
		{"ALTER ROLE " + role + " RENAME TO " + role + "_old", "ALTER ROLE " + role + "_old RENAME TO " + role, "does not exist"},
		{"ALTER ROLE " + role + " CONNECTION LIMIT 0", "ALTER ROLE " + role + " CONNECTION LIMIT -1", "too many connections"},
	} {
		servertest.Exec(t, admin, c.breaks) // first: a session that is being opened would stay
		servertest.Wait(t, patience, "the end of all sessions", func() bool {
			return servertest.Get(t, admin, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg_task %'") == "0"
		})
		servertest.Exec(t, admin, "INSERT INTO task (input) VALUES ('SELECT 1')")
		answers("a reason", http.StatusServiceUnavailable, to.Name()+": ", c.says)
		servertest.Exec(t, admin, c.mends)
		answers("ready again", http.StatusOK)
	}
}

// TestNotReadyWithAStaleConfiguration: the reason is one line, however many faults there are.
func TestNotReadyWithAStaleConfiguration(t *testing.T) {
	t.Parallel()
	s := opened(t)
	s.Stale("/etc/x.json: line 1; /etc/x.json: line 2")
	if status, text := s.get("/readyz"); status != http.StatusServiceUnavailable || text != "the configuration is stale, the one before stays in force: /etc/x.json: line 1; /etc/x.json: line 2\n" {
		t.Errorf("%d %s", status, text)
	}
	if m := s.metrics(); m["pgtaskd_config_stale"] != 1 {
		t.Errorf("%v", m)
	}
	s.Stale("")
	if status, text := s.get("/readyz"); status != http.StatusOK || s.metrics()["pgtaskd_config_stale"] != 0 {
		t.Errorf("%d %s", status, text)
	}
}

// TestHealthyWhileEveryLoopMoves: a loop that hangs is named, whatever the others do. A server that
// is away, or accepts a connection and says nothing, and a table that is refused, are for /readyz.
func TestHealthyWhileEveryLoopMoves(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	_, port, _ := net.SplitHostPort(silent.Addr().String())
	dsn := tasktest.Database(t)
	s, led, refused, hangs := opened(t), single(t, dsn), single(t, dsn), single(t, "host=127.0.0.1 user=u dbname=hangs")
	admin := servertest.Connect(t, dsn)
	servertest.Exec(t, admin, "CREATE SCHEMA other; CREATE TABLE other.task (LIKE task INCLUDING ALL); GRANT TRIGGER ON other.task TO PUBLIC")
	refused.Schema = "other"
	all := []target.Target{led, refused, single(t, "host=127.0.0.1 port=1 user=u dbname=away"), single(t, "host=127.0.0.1 user=u dbname=silent port="+port), hangs}
	stuck, free, stop, ended := make(chan *target.Stats, 1), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	serve := func(ctx context.Context, stop <-chan struct{}, to target.Target, log zerolog.Logger) error {
		if to.Name() != hangs.Name() {
			return work.Serve(ctx, stop, to, log)
		}
		stuck <- to.Stats
		<-free
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		ended <- conf.RunTargets(ctx, all, zerolog.Nop(), conf.Options{Serve: serve, Stop: stop, Watch: s})
	}()
	goOn := sync.OnceFunc(func() { close(free) })
	t.Cleanup(func() {
		goOn()
		cancel()
		<-ended
	})
	servertest.Wait(t, patience, "reasons not to be ready", func() bool {
		_, text := s.get("/readyz")
		return strings.Contains(text, "/other/task: ") && strings.Contains(text, "away/public/task: ") && strings.Contains(text, "silent/public/task: ")
	})
	s.show("a leader", func(m map[string]float64) bool { return m[`pgtaskd_leader{target="`+led.Name()+`"}`] == 1 })
	stats := <-stuck
	for _, c := range []struct {
		late   time.Duration
		status int
		text   string
	}{
		{overdueMost - time.Minute, http.StatusOK, "ok\n"},
		{overdueMost, http.StatusServiceUnavailable, "hangs/public/task: its loop has not moved for 5 min: restart pgtaskd\n"},
		{0, http.StatusOK, "ok\n"},
	} {
		stats.Moves(-c.late)
		if status, text := s.get("/healthz"); status != c.status || text != c.text {
			t.Errorf("overdue since %v: %d %s", c.late, status, text)
		}
	}
}

// TestTargetsThatAreRemovedAreNotShown: and targets of one name stay apart.
func TestTargetsThatAreRemovedAreNotShown(t *testing.T) {
	t.Parallel()
	s := opened(t)
	a, b, c := single(t, "host=a user=u dbname=shop"), single(t, "host=b port=1 user=u dbname=shop"), single(t, "host=a user=v dbname=shop")
	for _, t := range []*target.Target{&a, &b, &c} {
		t.Stats = target.NewStats()
	}
	s.Show([]target.Target{a, b, c})
	m := s.metrics()
	for _, name := range []string{"shop/public/task@a:5432", "shop/public/task@b:1", "shop/public/task@a:5432#2"} {
		if _, known := m[`pgtaskd_leader{target="`+name+`"}`]; !known {
			t.Errorf("there is no %s in %v", name, m)
		}
	}
	s.Show([]target.Target{b})
	m = s.metrics()
	if _, known := m[`pgtaskd_leader{target="shop/public/task"}`]; !known {
		t.Errorf("%v", m)
	}
	for name := range m {
		if strings.Contains(name, "@a") {
			t.Errorf("%s is shown", name)
		}
	}
}

// TestOnlyGetAndHeadAreAnswered: for all paths of the site.
func TestOnlyGetAndHeadAreAnswered(t *testing.T) {
	t.Parallel()
	s := opened(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/healthz", 200},
		{"HEAD", "/healthz", 200},
		{"HEAD", "/metrics", 200},
		{"GET", "/readyz", 200},
		{"POST", "/metrics", 405},
		{"DELETE", "/readyz", 405},
		{"GET", "/nowhere", 404},
		{"GET", "/metrics/", 404},
		{"GET", "/debug/pprof/", 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, s.URL()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, response.StatusCode)
		}
	}
}

// TestHostileRequestsAreBounded: endless headers, too long ones, and too many connections.
func TestHostileRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := opened(t)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(patience))
		return c
	}
	t.Run("slow", func(t *testing.T) {
		c := dial()
		_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("the connection stays open: %v", err)
		}
	})
	t.Run("long", func(t *testing.T) {
		c := dial()
		go func() {
			_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 10<<20)+"\r\n\r\n")
		}()
		// If the client sends more after the answer, the server resets the connection, and the
		// answer may be lost.
		if answer, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(answer, " 431 ") && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q %v", answer, err)
		}
	})
	t.Run("many", func(t *testing.T) {
		asks := func(c net.Conn) error {
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
			answer, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && !strings.Contains(answer, " 200 ") {
				err = errors.New(answer)
			}
			return err
		}
		other, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		_ = other.SetDeadline(time.Now().Add(patience))
		if err := asks(other); err != nil {
			t.Fatal(err)
		}
		greedy := []net.Conn{}
		for range clientsMost + 10 {
			greedy = append(greedy, dial())
			if err := asks(greedy[len(greedy)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadAll(greedy[0]); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("the oldest connection stays open: %v", err)
		}
		if err := asks(other); err != nil {
			t.Errorf("that of another client does not: %v", err)
		}
	})
}

// TestListenMoves: to another port, and to another address with the same port. If that fails, the
// site stays where it was.
func TestListenMoves(t *testing.T) {
	t.Parallel()
	s, other := opened(t), opened(t)
	answers := func(url string) bool {
		response, err := http.Get(url + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	}
	before := s.URL()
	taken := strings.TrimPrefix(other.URL(), "http://")
	if err := s.Listen(conf.HTTP{Listen: taken}); err == nil || !strings.Contains(err.Error(), "http.listen: cannot listen on "+taken) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("%v", err)
	}
	if s.URL() != before || !answers(before) {
		t.Errorf("%s is gone", before)
	}
	own := strings.TrimPrefix(before, "http://")
	if err := s.Listen(conf.HTTP{Listen: own}); err != nil { // port 0 has become a real port
		t.Fatal(err)
	}
	wide := "0.0.0.0:" + portOf(own)
	if err := s.Listen(conf.HTTP{Listen: wide}); err != nil || !answers(before) {
		t.Errorf("%v, %s", err, s.URL())
	}
	if err := s.Listen(conf.HTTP{Listen: "192.0.2.1:" + portOf(own)}); err == nil || !answers(before) {
		t.Errorf("%v, %s", err, s.URL())
	}
	if err := s.Listen(conf.HTTP{Listen: ""}); err != nil || answers(before) || s.URL() != "" {
		t.Errorf("%v, %s", err, s.URL())
	}
}
