//go:build slow

package work

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestPublicationIsTakenAway: it is created again, and so is the stream. If that is not allowed,
// the leader uses another way.
func TestPublicationIsTakenAway(t *testing.T) {
	t.Parallel()
	s := play(t, deaf, byWAL)
	for i, way := range unpublish {
		follows := func() bool { return strings.Count(s.logged(), "following the write-ahead log") > i }
		s.until("live", follows)
		s.exec(fmt.Sprintf(way, sql.Publication(s.target.Relation())))
		i++
		s.until("live again", follows)
		s.becomes(s.add("input", "SELECT 1"), "DONE")
	}
	s.drain()

	s.target.Create, s.target.Sleep = false, 100*time.Millisecond // since it polls then
	s.serve()
	s.until("leading again", func() bool { return s.leads() > 1 })
	s.exec(fmt.Sprintf(unpublish[0], sql.Publication(s.target.Relation())))
	const said = "does not publish inserts into the table: run as"
	s.until("said", func() bool { return strings.Contains(s.logged(), said) })
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if log := s.logged(); strings.Count(log, said) != 1 || s.leads() != 2 {
		t.Errorf("said %d times, led %d times", strings.Count(log, said), s.leads())
	}
}

// TestWALIsNotPossible: the leader uses another way. Log and check say once what is missing.
func TestWALIsNotPossible(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"wal_level": "replica", "max_wal_senders": "0"}})
	obstructed := func(s *stage, want ...string) {
		t.Helper()
		report := Check(t.Context(), s.target)
		s.serve()
		s.settled()
		s.asleep() // by NOTIFY now
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
		s.until("leading again", func() bool { return s.leads() > 1 })
		for _, what := range want {
			if log := strings.ReplaceAll(s.logged(), `\"`, `"`); !strings.Contains(log, what) {
				t.Errorf("not said: %s", what)
			}
			if said := strings.Join(report.Lines, "\n"); !strings.Contains(said, what) || len(report.Faults) > 0 {
				t.Errorf("check does not say %s: %s; %s", what, said, report.Faults)
			}
		}
	}
	s := stageOn(t, own.DSN("postgres"), deaf, byWAL)
	s.exec("CREATE ROLE worker LOGIN; GRANT CREATE ON SCHEMA public TO worker")
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": "worker"})
	obstructed(s, "wal_level is replica", "ALTER ROLE worker REPLICATION", `wake "wal" is not possible`)

	role := "replicator_" + strings.ReplaceAll(s.get("SELECT pg_backend_pid()"), "-", "")
	s = prepared(t, deaf, byWAL)
	s.exec("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT CREATE ON SCHEMA public TO " + role)
	t.Cleanup(func() {
		if _, err := s.conn.PgConn().Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role).ReadAll(); err != nil {
			t.Error(err)
		}
	})
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.target.Admin = s.target.Connect // as a user who may not do more
	obstructed(s, "CREATE PUBLICATION "+sql.Publication(s.target.Relation())+" FOR TABLE")
}

// unpublish are ways to keep a publication from showing inserts.
var unpublish = []string{"DROP PUBLICATION %s", "ALTER PUBLICATION %s DROP TABLE task", "ALTER PUBLICATION %s SET (publish = 'update')"}
