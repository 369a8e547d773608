package work

import (
	"strings"
	"sync/atomic"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// sessions are the backends that run tasks of the stage's database.
const sessions = "FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'"

func TestTerminatedFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT 1; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_terminate_backend(pid) " + sessions)
	s.becomes(id, "FAIL")
	if row := s.row(id, "output, sqlstate, attempt, interrupted"); row != `{"output":"1","sqlstate":"57P01","attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

func TestCancelledFails(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT 1; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_cancel_backend(pid) " + sessions)
	s.becomes(id, "FAIL")
	if row := s.row(id, "output, sqlstate, attempt, interrupted"); row != `{"output":"1","sqlstate":"57014","attempt":1,"interrupted":0}` {
		t.Error(row)
	}
}

// breaking is a stage whose connections break when the server answers for the first time to what
// begins a task with the word "break".
func breaking(t *testing.T) *stage {
	t.Helper()
	p := throughProxy(t)
	var link atomic.Int64 // that the task is on, and no other any more
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
	s.becomes(s.add("input", "SELECT 1"), "DONE") // leaves a session that has been used
	return s
}

// TestLostBeforeTheStartIsKnown: a connection that breaks without a word of the server's may have
// broken behind the task's SQL: it is cut off.
func TestLostBeforeTheStartIsKnown(t *testing.T) {
	t.Parallel()
	s := breaking(t)
	id := s.add("input", "/* break */ INSERT INTO effect VALUES (1)")
	s.becomes(id, "DONE")
	const want = `{"attempt":2,"interrupted":1,"jsonb_array_length":1,"effects":1}`
	if row := s.row(id, "attempt, interrupted, jsonb_array_length(runs), (SELECT count(*) FROM effect) AS effects"); row != want {
		t.Error(row)
	}
}

// TestLostBeforeTheStartIsKnownOnce: likewise, and what must not run twice does not.
func TestLostBeforeTheStartIsKnownOnce(t *testing.T) {
	t.Parallel()
	s := breaking(t)
	id := s.add("input, rerun", "BEGIN; INSERT INTO effect VALUES (1) /* break */; COMMIT", false)
	s.becomes(id, "FAIL")
	if row := s.row(id, "attempt, interrupted, sqlstate"); row != `{"attempt":1,"interrupted":1,"sqlstate":"08006"}` {
		t.Error(row)
	}
	if n := s.get("SELECT count(*) FROM effect"); n > "1" {
		t.Errorf("%s effects", n)
	}
}

// TestEndedWhileIdle: a session that the server had ended before it was given a task has not run
// it, as the server's last word says.
func TestEndedWhileIdle(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	for _, input := range []string{"INSERT INTO effect VALUES (1)", "/* once more */ INSERT INTO effect VALUES (1)"} {
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		s.exec("SELECT pg_terminate_backend(pid) " + sessions)
		s.eventually("0", "SELECT count(*) "+sessions)
		id := s.add("input", input)
		s.becomes(id, "DONE")
		if row := s.row(id, "attempt, interrupted, runs"); row != `{"attempt":1,"interrupted":0,"runs":null}` {
			t.Error(row)
		}
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "2" {
		t.Errorf("%s effects", n)
	}
}

// TestTerminatedOneAfterTheOther: the end of a task whose session was terminated is not put off by
// others that meet with the same.
func TestTerminatedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 60 })
	s.exec(`INSERT INTO task (plan, "group", input, delete)
		SELECT now() + i * interval '0.1 s', i, 'SELECT pg_terminate_backend(pg_backend_pid())', false FROM generate_series(1, 50) AS i`)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'FAIL'")
	if s.get("SELECT count(*) FROM task WHERE state = 'PLAN'") == "0" {
		t.Error("no end was written until the last of them had come")
	}
}
