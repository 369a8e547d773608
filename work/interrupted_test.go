package work

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// sessions are the backends that run tasks in the stage's database.
const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'"

// TestARunThatSomebodyEndsFails: an administrator terminates its session, or cancels its SQL. Its
// output so far stays.
func TestARunThatSomebodyEndsFails(t *testing.T) {
	t.Parallel()
	for by, code := range map[string]string{"pg_terminate_backend": "57P01", "pg_cancel_backend": "57014"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			id := s.add("input", "SELECT 1; SELECT pg_sleep(60)")
			s.becomes(id, "WORK")
			s.exec("SELECT " + by + "(pid) " + sessions)
			s.becomes(id, "FAIL")
			if row := s.row(id, "output, sqlstate, attempt, interrupted"); row != `{"output":"1","sqlstate":"`+code+`","attempt":1,"interrupted":0}` {
				t.Error(row)
			}
		})
	}
}

// breaking returns a stage with a proxy. It breaks the connection of the first task that contains
// the word "break", at the server's first answer to it.
func breaking(t *testing.T) *stage {
	t.Helper()
	p := throughProxy(t)
	var link atomic.Int64 // connection of that task + 1; -1: broken
	p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		switch {
		case fromClient && kind == 'Q' && strings.Contains(string(body), "break"):
			link.CompareAndSwap(0, int64(conn)+1)
		case !fromClient && link.CompareAndSwap(int64(conn)+1, -1):
			return proxy.Cut
		}
		return proxy.Pass
	})
	s := play(t, func(target *Target) {
		var err error
		if target.Connect, err = remote.Parse(p.DSN(servertest.Server(t).DSN(target.Connect["dbname"]))); err != nil {
			t.Fatal(err)
		}
	})
	s.exec("CREATE TABLE effect (id int8)")
	s.becomes(s.add("input", "SELECT 1"), "DONE") // leaves a used session
	return s
}

// TestAConnectionThatBreaksBeforeTheStartIsKnownCutsTheTaskOff: its SQL may have run. The task runs
// again, unless it must not run twice.
func TestAConnectionThatBreaksBeforeTheStartIsKnownCutsTheTaskOff(t *testing.T) {
	t.Parallel()
	for rerun, c := range map[bool]struct{ input, state, row, effects string }{
		true:  {"/* break */ INSERT INTO effect VALUES (1)", "DONE", `{"attempt":2,"interrupted":1,"runs":1,"sqlstate":null}`, "1"},
		false: {"BEGIN; INSERT INTO effect VALUES (1) /* break */; COMMIT", "FAIL", `{"attempt":1,"interrupted":1,"runs":1,"sqlstate":"08006"}`, "0 1"},
	} {
		t.Run(fmt.Sprint("rerun ", rerun), func(t *testing.T) {
			t.Parallel()
			s := breaking(t)
			id := s.add("input, rerun", c.input, rerun)
			s.becomes(id, c.state)
			if row := s.row(id, "attempt, interrupted, jsonb_array_length(runs) AS runs, sqlstate"); row != c.row {
				t.Error(row)
			}
			if n := s.get("SELECT count(*) FROM effect"); !strings.Contains(c.effects, n) {
				t.Errorf("%s effects", n)
			}
		})
	}
}

// TestEndsOfTerminatedSessionsDoNotWaitForEachOther: sessions are terminated one after another.
func TestEndsOfTerminatedSessionsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 60 })
	s.exec(`INSERT INTO task (plan, "group", input, delete)
		SELECT now() + i * interval '0.1 s', i, 'SELECT pg_terminate_backend(pg_backend_pid())', false FROM generate_series(1, 50) AS i`)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'FAIL'")
	if s.get("SELECT count(*) FROM task WHERE state = 'PLAN'") == "0" {
		t.Error("no end was written until the last of them had come")
	}
}
