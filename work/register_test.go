package work

import (
	"strings"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

func (s *stage) register() string { return sql.Beside(s.target.Relation(), "session") }

// enrols registers a session of the test as if the leader had opened it.
func (s *stage) enrols(pid int32) {
	s.t.Helper()
	s.exec("INSERT INTO "+s.register()+" SELECT pid, backend_start FROM pg_stat_activity WHERE pid = $1", pid)
}

// unknown is SQL that counts the task sessions that are not in the register.
func (s *stage) unknown() string {
	return "SELECT count(*) FROM (SELECT pid, backend_start " + sessions + " EXCEPT SELECT pid, started FROM " + s.register() + ") AS unknown"
}

// TestASessionIsRegisteredBeforeItsFirstTask: each task looks for its own session there.
func TestASessionIsRegisteredBeforeItsFirstTask(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input) SELECT i, 'SELECT count(*) FROM ` + s.register() + ` AS r JOIN pg_stat_activity AS a ON a.pid = r.pid AND a.backend_start = r.started
		WHERE r.pid = pg_backend_pid()' FROM generate_series(1, 20) AS i`)
	s.eventually("20", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if n := s.get("SELECT count(*) FROM task WHERE output = '1' AND attempt = 1"); n != "20" {
		t.Error(n, " tasks found their session in the register")
	}
}

// TestTheRegisterDoesNotGrow: hundreds of sessions are opened and closed.
func TestTheRegisterDoesNotGrow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task ("group", input, count) SELECT i % 20, 'SELECT pg_backend_pid()', 1 FROM generate_series(1, 300) AS i`)
	most := 0
	servertest.Wait(t, 4*patient, "end of all", func() bool {
		var n, left int
		if err := s.conn.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM "+s.register()+"), (SELECT count(*) FROM task WHERE due IS NOT NULL)").Scan(&n, &left); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		return left == 0
	})
	if n := s.get("SELECT count(DISTINCT output) FROM task WHERE state = 'DONE'"); n != "300" {
		t.Error(n, " sessions")
	}
	if limit := 10 * s.target.Run; most > limit {
		t.Errorf("the register had %d rows, with %d sessions at once", most, s.target.Run)
	}
}

// TestSessionsThatWentUnseenLeaveTheRegister: sessions of a controller that was killed.
func TestSessionsThatWentUnseenLeaveTheRegister(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.drain()
	s.exec("INSERT INTO " + s.register() + " SELECT i, now() FROM generate_series(1, 100) AS i")
	s.serve()
	s.eventually("0", "SELECT count(*) FROM "+s.register())
}

// TestAnUnmarkedTaskOfAnEarlierLeaderIsFound: by the register, whatever its session now calls
// itself, or by name if there is no register. The run is ended before the new leader starts
// anything, and has had no effect.
func TestAnUnmarkedTaskOfAnEarlierLeaderIsFound(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"register", "name"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s, p := ledThroughProxy(t)
			name := ""
			if by == "register" {
				name = "SET application_name = 'somebody else'; "
			} else {
				must(t, s.conn, "BEGIN; DROP TABLE "+s.register()+"; CREATE VIEW "+s.register()+" AS SELECT 1; COMMIT")
				s.until("without a register", func() bool { return strings.Contains(s.logged(), "goes without a register") })
			}
			s.exec("CREATE TABLE effect (id int4)")
			s.refuse("UPDATE", "NEW.state = 'WORK' AND NEW.xact IS NULL") // keeps the row PLAN while the task runs
			holder := s.connect()
			must(t, holder, "SELECT pg_advisory_lock(43)")
			id := s.add("input, data", "INSERT INTO effect VALUES (1); "+name+"SELECT pg_advisory_xact_lock(43)", "odd")
			s.eventually("1", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 43 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
			p.Stall(true)
			p.Refuse(true)
			s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
			s.serve()
			s.anyLeader()
			for range 2 { // time for the leader to look for it
				s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(1)", "others"), "DONE")
			}
			if state := s.state(id); state != "PLAN" {
				t.Error("while it waits for the lock, it is ", state)
			}
			must(t, holder, "SELECT pg_advisory_unlock(43)")
			s.becomes(id, "DONE")
			if row := s.row(id, "attempt, interrupted, (SELECT count(*) FROM effect) AS effects"); row != `{"attempt":1,"interrupted":0,"effects":1}` {
				t.Error(row)
			}
		})
	}
}

// TestWithoutTheRightToCreate: a role that cannot create the register goes without, and logs that
// once. When somebody creates it, all sessions are registered at once.
func TestWithoutTheRightToCreate(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	if _, err := schema.Install(t.Context(), s.conn, s.target.Relation(), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	role := s.role()
	s.exec("DROP TABLE " + s.register())
	s.exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	s.exec("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO " + role)
	s.exec("GRANT USAGE ON SEQUENCE task_id_seq TO " + role)
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.target.Admin = s.target.Connect
	const says = "goes without a register of sessions"
	if r := Check(t.Context(), s.target); len(r.Faults) > 0 || !strings.Contains(strings.Join(r.Lines, "\n"), "ready\n"+says) {
		t.Errorf("check: %q, %q", r.Lines, r.Faults)
	}
	s.serve()
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	s.until("led again", func() bool { return s.leads() == 2 })
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if n := strings.Count(s.logged(), says); n != 1 {
		t.Errorf("said %d times", n)
	}
	must(t, s.conn, schema.DDL(s.target.Relation(), schema.Options{Role: role}))
	s.eventually("true", "SELECT ("+s.unknown()+") = 0 AND EXISTS (SELECT FROM "+s.register()+")")
	if r := Check(t.Context(), s.target); len(r.Lines) != 1 || r.Lines[0] != "ready" {
		t.Errorf("check: %q, %q", r.Lines, r.Faults)
	}
}

// TestTheDsnsUserMakesTheRegister: together with the table, for a role that cannot.
func TestTheDsnsUserMakesTheRegister(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	role := s.role()
	s.exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.serve()
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if n := s.get(s.unknown()) + s.get("SELECT count(*) FROM "+s.register()); n != "01" {
		t.Error(n)
	}
	if strings.Contains(s.logged(), "goes without") {
		t.Error("it goes without")
	}
}

// TestTheRegisterIsDropped: while the table is served. It is created again, and no task notices.
func TestTheRegisterIsDropped(t *testing.T) {
	t.Parallel()
	s := play(t)
	kept := s.add("input", "SELECT pg_sleep(60)")
	s.becomes(kept, "WORK")
	s.exec("DROP TABLE " + s.register())
	id := s.add(`input, "group"`, "SELECT 1", "other")
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, error"); row != `{"attempt":1,"error":null}` {
		t.Error(row)
	}
	s.eventually("0", s.unknown())
	must(t, s.conn, "BEGIN; DROP TABLE "+s.register()+"; CREATE VIEW "+s.register()+" AS SELECT 1; COMMIT")
	s.until("without a register", func() bool { return strings.Contains(s.logged(), "goes without a register") })
	s.becomes(s.add(`input, "group", live`, "SELECT 1", "another", "1 s"), "DONE")
	if s.leads() > 2 {
		t.Errorf("led %d times", s.leads())
	}
}

// TestTheRegisterIsLocked: a task that needs a new session waits and shows why. Others go on.
func TestTheRegisterIsLocked(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // leaves a session
	tx, err := s.connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE "+s.register()); err != nil {
		t.Fatal(err)
	}
	waits := s.add(`input, "group", live`, "SELECT 1", "new", "1 s")
	s.eventually("55P03", "SELECT sqlstate FROM task WHERE id = $1", waits)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(waits, "DONE")
}
