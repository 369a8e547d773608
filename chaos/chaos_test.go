package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestStorm is a short storm. Its seed brings nine kinds of faults at once.
func TestStorm(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-seed", "103672", "-for", "4s"}, &out, &out); err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}

// TestStormOnServers is a short storm on a remote: it crashes, loses its standby, and fails over.
func TestStormOnServers(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"-seed", "335836", "-for", "2s", "-mode", "failover"}, &out, &out); err != nil {
		t.Error(err)
	}
	t.Log(out.String())
}

// TestChecks: every check finds the violation that it is for.
func TestChecks(t *testing.T) {
	t.Parallel()
	const task = `INSERT INTO task (id, "group", state, input, promise, chain, max, start, stop) VALUES `
	cases := []struct {
		statement, before string
		args              []any
	}{
		{"not_ended.sql", task + "(1, 'a', 'PLAN', '', NULL, false, 0, NULL, NULL)", nil},
		{"vanished.sql", "INSERT INTO planned VALUES (1)", nil},
		{"failed.sql", task + "(1, 'a', 'FAIL', '', NULL, false, 0, now(), now())", nil},
		{"done_without_effect.sql", task + "(1, 'a', 'DONE', '', 'exactly', false, 0, now(), now())", nil},
		{"chain_broken.sql", task + "(1, 'a', 'DONE', '', NULL, true, 0, now(), now())", nil},
		{"chain_forked.sql", task + "(1, 'a', 'PLAN', '', NULL, true, 0, NULL, NULL), (2, 'a', 'PLAN', '', NULL, true, 0, NULL, NULL)", nil},
		{"lane_over.sql", task + "(1, 'a', 'DONE', '', NULL, false, 0, now(), now() + '3 s'), (2, 'a', 'DONE', '', NULL, false, 0, now() + '2 s', now() + '4 s')", nil},
		{"lane_over.sql", task + "(1, 'a', 'DONE', '', NULL, false, 0, now(), now() + '3 s'), (2, 'a', 'DONE', '', NULL, false, 0, now(), now() + '4 s')", nil},
		{"backend_stuck.sql", "SET application_name = 'pg_task public task a'", nil},
		{"chain_still.sql", task + "(1, 'a', 'PLAN', '', NULL, true, 0, NULL, NULL)", []any{time.Now()}},
		{"effects_over_runs.sql", task + "(1, 'a', 'DONE', '', 'least', false, 0, now(), now()); INSERT INTO effect VALUES (1, 1)", nil},
		{"runs_over.sql", task + "(1, 'a', 'DONE', '', 'exactly', false, 0, now(), now()); UPDATE task SET attempt = 2", nil},
		{"effect_twice.sql", task + "(1, 'a', 'DONE', '', 'most', false, 0, now(), now()); INSERT INTO effect VALUES (1, 1), (1, 2)", nil},
		{"unknown.sql", task + "(1, 'a', 'FAIL', '', 'exactly', false, 0, now(), now()); UPDATE task SET sqlstate = 'TK003'", nil},
		{"effect_without_done.sql", task + "(1, 'a', 'FAIL', '', 'exactly', false, 0, now(), now()); INSERT INTO effect VALUES (1, 1)", nil},
	}
	conn := furnished(t)
	for _, c := range cases {
		for _, broken := range []bool{false, true} {
			if err := inTransaction(t, conn, func() error {
				if broken {
					if _, err := conn.Exec(t.Context(), c.before); err != nil {
						return err
					}
				}
				var r report
				err := r.ask(t.Context(), conn, "promise", c.statement, c.args...)
				if (r.broken() > 0) != broken {
					t.Errorf("%s has found %d violations, want some: %t", c.statement, r.broken(), broken)
				}
				return err
			}); err != nil {
				t.Errorf("%s: %v", c.statement, err)
			}
		}
	}
}

// TestGoneTakesNoPlace: a task that is GONE has not run, so it does not count in its lane.
func TestGoneTakesNoPlace(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	if _, err := conn.Exec(t.Context(), `INSERT INTO task (id, state, input, promise, chain, max, start, stop) VALUES
		(1, 'DONE', '', NULL, false, 1, now(), now() + '3 s'), (2, 'DONE', '', NULL, false, 1, now(), now() + '3 s'),
		(3, 'GONE', '', NULL, false, 0, now() + '2 s', now() + '2 s')`); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := r.ask(t.Context(), conn, "promise", "lane_over.sql"); err != nil || r.broken() > 0 {
		t.Errorf("%v, %d violations", err, r.broken())
	}
}

// furnished returns a connection to a database with everything that the checks look at.
func furnished(t *testing.T) *pgx.Conn {
	t.Helper()
	conn := servertest.Connect(t, tasktest.Database(t))
	servertest.Exec(t, conn, text("effect.sql")+text("setup.sql"))
	return conn
}

// inTransaction calls body and rolls back.
func inTransaction(t *testing.T, conn *pgx.Conn, body func() error) error {
	t.Helper()
	_, began := conn.Exec(t.Context(), "BEGIN")
	err := body()
	_, ended := conn.Exec(t.Context(), "ROLLBACK")
	return errors.Join(began, err, ended)
}

func TestReport(t *testing.T) {
	t.Parallel()
	var r report
	r.struck("network: slow")
	r.violated("kept")
	r.violated("broken", "one", "two", "three", "four")
	r.violated("broken", "five", "six")
	var out strings.Builder
	if err := r.print(&out, faults); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| network: slow ", "| kept ", "| 6 ", "\nbroken: five\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "broken: six") {
		t.Error("too many examples in\n" + out.String())
	}
}

func TestRefusedArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"x"}, {"-mode", "other"}, {"-for", "ever"}, {"-seed", "-1"}} {
		if err := run(t.Context(), args, &strings.Builder{}, &strings.Builder{}); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// TestControllerThatEnds: the report shows a controller that ends by itself.
func TestControllerThatEnds(t *testing.T) {
	t.Parallel()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := &controller{program: "/bin/false", log: log}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	<-c.process.done
	s := &stand{controllers: [2]*controller{c, c}}
	var r report
	if err := s.tend(t.Context(), &r); err != nil || r.broken() == 0 {
		t.Error(err, r.broken())
	}
	<-c.process.done
}
