package work

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// answerless is the port of a server that accepts connections and never answers, and the most
// connections that it has had at once.
func answerless(t *testing.T) (port int, most *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Int32
	most = &atomic.Int32{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			go func() {
				defer now.Add(-1)
				defer func() { _ = conn.Close() }()
				buffer := make([]byte, 100)
				for err == nil {
					_, err = conn.Read(buffer)
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	return listener.Addr().(*net.TCPAddr).Port, most
}

// TestRemotesThatDoNotAnswerKeepNoOtherTaskWaiting: one connection at a time tries a remote,
// however many tasks name it. At most run connections try different remotes, as a table can name
// any number of them. They use no slot.
func TestRemotesThatDoNotAnswerKeepNoOtherTaskWaiting(t *testing.T) {
	t.Parallel()
	long := " application_name=" + strings.Repeat("long", 40)
	for name, c := range map[string]struct {
		remote string // added to the connection string
		most   int32  // connections at once
	}{
		"one remote":   {"''", 1},
		"many remotes": {"'" + long + "' || i", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, most := answerless(t)
			s := play(t, func(t *Target) { t.Run = 2 })
			s.exec(`INSERT INTO task ("group", max, remote, input) SELECT 'g' || i % 50, 1000, $1 || `+c.remote+`, 'SELECT 1' FROM generate_series(1, 500) AS i`,
				fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=x sslmode=disable", port))
			s.until("remotes to be tried", func() bool { return most.Load() >= c.most })
			for i := range 20 {
				began := time.Now()
				s.becomes(s.add(`"group", input`, fmt.Sprint("local", i), "SELECT 1"), "DONE")
				if took := time.Since(began); took > servertest.Limit(2*time.Second) {
					t.Errorf("a task of another lane took %s", took)
				}
			}
			if n := most.Load(); n > c.most {
				t.Errorf("%d connections tried at once", n)
			}
			if ended := s.get("SELECT count(*) FROM task WHERE remote IS NOT NULL AND state <> 'PLAN'"); ended != "0" {
				t.Error(ended, "tasks of the remote have ended")
			}
		})
	}
}

// TestRemoteTasksStartOnceTheirServerAnswers: the first task opens the way for the others.
func TestRemoteTasksStartOnceTheirServerAnswers(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 4 })
	s.exec(`INSERT INTO task ("group", max, remote, input) SELECT 'g' || i % 50, 1, 'application_name=here', 'SELECT 1' FROM generate_series(1, 500) AS i`)
	s.eventually("500", "SELECT count(*) FROM task WHERE state = 'DONE'")
}

// TestTasksOfManyRemotesAreNoMoreThanRun: a task whose remote has been tried still needs a slot.
func TestTasksOfManyRemotesAreNoMoreThanRun(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run = 2 })
	s.exec(`INSERT INTO task ("group", remote, input, delete) SELECT 'g' || i, 'application_name=a' || i, 'SELECT pg_sleep(0.05)', false FROM generate_series(1, 40) AS i`)
	s.eventually("40", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if most := s.get("SELECT max((SELECT count(*) FROM task AS o WHERE o.start <= t.start AND o.stop > t.start)) FROM task AS t"); most != "2" {
		t.Error(most, "ran at once")
	}
}

// TestConnectionsRefused: if the server refuses a session, its task waits, and the row says why.
func TestConnectionsRefused(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Idle = 0 })
	name := s.get("SELECT current_database()")
	other, err := connectTo(t.Context(), servertest.Server(t).DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(t.Context()) }()
	if _, err := other.Exec(t.Context(), "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false"); err != nil {
		t.Fatal(err)
	}
	id := s.add("input", "SELECT 1")
	s.eventually("true", "SELECT error LIKE 'ERROR:  could not establish connection%' AND state = 'PLAN' AND plan > now() FROM task WHERE id = $1", id)
	if _, err := other.Exec(t.Context(), "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true"); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, interrupted, error"); row != `{"attempt":1,"interrupted":0,"error":null}` {
		t.Error(row)
	}
}

// TestASuperusersTaskShowsWhyItsRemoteCannotBeReached: the row has the details.
func TestASuperusersTaskShowsWhyItsRemoteCannotBeReached(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, remote", "SELECT 1", "host=127.0.0.1 port=1")
	s.eventually("true", "SELECT error LIKE '%DETAIL:  connection refused%' AND state = 'PLAN' FROM task WHERE id = $1", id)
}

// TestAnswersOfARemoteAreShownToEveryRole: a row shows the error of a PostgreSQL server.
func TestAnswersOfARemoteAreShownToEveryRole(t *testing.T) {
	t.Parallel()
	s := guest(t)
	place := s.target.Connect
	id := s.add("input, remote", "SELECT 1", remote.Settings{"host": place["host"], "port": place["port"], "user": "nobody", "password": "x", "dbname": "postgres"}.String())
	s.becomes(id, "FAIL")
	var row struct{ Error, SQLState string }
	if err := json.Unmarshal([]byte(s.row(id, "error, sqlstate")), &row); err != nil {
		t.Fatal(err)
	}
	if row.SQLState != "28000" || !strings.Contains(row.Error, `role "nobody" does not exist`) {
		t.Errorf("%+v", row)
	}
}

// TestTheLogSaysWhyARemoteLetsNobodyIn: in the server's words, at its usual level, once for each
// reason, without the password.
func TestTheLogSaysWhyARemoteLetsNobodyIn(t *testing.T) {
	t.Parallel()
	s := play(t)
	wrong := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=hush", servertest.Server(t).Port)
	for range 2 {
		id := s.add("input, remote", "SELECT 1", wrong)
		s.becomes(id, "FAIL")
		closed := s.add(`input, remote, "group"`, "SELECT 1", "host=127.0.0.1 port=1 user=u password=hush", "closed")
		s.eventually("true", "SELECT error IS NOT NULL FROM task WHERE id = $1", closed)
	}
	s.says(`"level":"warn"`, "cannot open a session for a task", "password authentication failed")
	s.says(`"level":"warn"`, "cannot open a session for a task", "refused")
	if n := strings.Count(s.logged(), "cannot open a session for a task"); n != 2 || strings.Contains(s.logged(), "hush") {
		t.Errorf("%d lines, or a password: %s", n, s.logged())
	}
}

// TestATriedRemoteKeepsNoSessionTooMany: while run is full, a remote that was away is tried. There are
// no more than run sessions after that.
func TestATriedRemoteKeepsNoSessionTooMany(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	p.Refuse(true)
	var opened atomic.Bool
	p.Watch(func(_ int, fromClient bool, kind byte, _ []byte) proxy.Verdict {
		opened.Store(opened.Load() || !fromClient && kind == 'Z')
		return proxy.Pass
	})
	s, elsewhere := play(t, func(t *Target) { t.Run = 1 }), prepared(t)
	id := s.add("input, remote", "SELECT 1", p.DSN(elsewhere.dsn))
	s.eventually("08001", "SELECT sqlstate FROM task WHERE id = $1", id)
	s.becomes(s.add("input", "SELECT pg_sleep(60)"), "WORK")
	p.Refuse(false)
	s.until("the remote to be tried", opened.Load)
	elsewhere.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
}

// TestManyRemotesTakeFewConnections: somebody may name as many as there are tasks.
func TestManyRemotesTakeFewConnections(t *testing.T) {
	t.Parallel()
	s, elsewhere := play(t, func(t *Target) { t.Run = 2 }), prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	s.exec(`INSERT INTO task ("group", input, remote) SELECT 'g' || i, 'INSERT INTO effect VALUES (1)', $1 || ' application_name=many_' || i FROM generate_series(1, 40) AS i`, elsewhere.dsn)
	s.eventually("40", "SELECT count(*) FROM task WHERE state = 'DONE' AND atomic")
	elsewhere.eventually("true", "SELECT count(*) < 20 FROM pg_stat_activity WHERE application_name LIKE 'many%'")
}
