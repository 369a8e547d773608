package work

import (
	"context"
	"testing"
	"time"

	"pgtaskd/major"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// untouched is the row of a task that has run once, and was never interrupted.
const untouched = `{"state":"DONE","attempt":1,"interrupted":0,"runs":null,"error":null}`

// TestSessionEndedWhileIdleIsNoInterruption: a task that is sent to it has not begun, whatever kind
// of task it is.
func TestSessionEndedWhileIdleIsNoInterruption(t *testing.T) {
	t.Parallel()
	elsewhere := prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	for _, c := range []struct {
		input  string
		rerun  bool
		remote *string
	}{
		{"INSERT INTO effect VALUES (1)", true, nil},
		{"INSERT INTO effect VALUES (1)", false, nil},
		{"SELECT nextval('task_id_seq'); INSERT INTO effect VALUES (1)", false, nil},
		{"VACUUM task", true, nil},
		{"VACUUM task", false, nil},
		{"BEGIN; INSERT INTO effect VALUES (1); COMMIT", false, nil},
		{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; INSERT INTO effect VALUES (1)", true, nil},
		{"SELECT 1", true, &elsewhere.dsn},
		{"INSERT INTO effect VALUES (1)", true, &elsewhere.dsn},
		{"INSERT INTO effect VALUES (1)", false, &elsewhere.dsn},
		{"BEGIN; INSERT INTO effect VALUES (1); COMMIT", false, &elsewhere.dsn},
	} {
		at := s
		if c.remote != nil {
			at = elsewhere
		}
		s.becomes(s.add("input, remote", "SELECT 1", c.remote), "DONE")
		at.exec("SELECT pg_terminate_backend(pid) " + sessions)
		at.eventually("0", "SELECT count(*) "+sessions)
		s.meets(c.input, c.rerun, c.remote)
	}
	if n, m := s.get("SELECT count(*) FROM effect"), elsewhere.get("SELECT count(*) FROM effect"); n != "5" || m != "3" {
		t.Errorf("%s effects, and %s elsewhere", n, m)
	}
}

// meets adds a task that meets a dead session, and checks that its row does not show that.
func (s *stage) meets(input string, rerun bool, remote *string) {
	s.t.Helper()
	id := s.add("input, rerun, remote", input, rerun, remote)
	s.becomes(id, "DONE", "FAIL")
	if row := s.row(id, "state, attempt, interrupted, runs, error"); row != untouched {
		s.t.Errorf("%s, rerun %t, remote %t: %s", input, rerun, remote != nil, row)
	}
}

// TestSessionThatARemoteEndsForBeingIdleIsNoInterruption: by idle_session_timeout.
func TestSessionThatARemoteEndsForBeingIdleIsNoInterruption(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.ClientCheck) {
		return
	}
	s, elsewhere := play(t), prepared(t)
	elsewhere.exec("CREATE TABLE effect (id int8)")
	elsewhere.exec("ALTER DATABASE " + elsewhere.get("SELECT current_database()") + " SET idle_session_timeout TO '100ms'")
	for range 3 {
		s.meets("INSERT INTO effect VALUES (1)", false, &elsewhere.dsn)
		elsewhere.eventually("0", "SELECT count(*) "+sessions)
	}
}

// TestRestartOfARemoteBetweenTwoTasksIsNoInterruption: the second has not begun on the old session.
func TestRestartOfARemoteBetweenTwoTasksIsNoInterruption(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{})
	s := play(t)
	dsn := own.DSN("postgres")
	s.meets("SELECT 1", false, &dsn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.meets("CREATE TABLE effect ()", false, &dsn)
}
