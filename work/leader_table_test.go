package work

import (
	"testing"
	"time"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/sql/schema"
)

// inControl reads the rows of the table of controllers.
const inControl = `SELECT coalesce(string_agg(concat_ws(' ', controller, CASE WHEN leads THEN 'leads' ELSE 'stands by' END, run, timezone), ', ' ORDER BY controller), 'nobody') FROM task_leader`

// serveAs serves as a controller with that name.
func (s *stage) serveAs(controller string) {
	s.t.Helper()
	s.beginWith(func(_ int, l *loop) { l.leads.Controller = controller })
}

// TestControllersShowWhoLeads: each has a row, which shows since when it leads or stands by.
func TestControllersShowWhoLeads(t *testing.T) {
	t.Parallel()
	one := prepared(t)
	two := stageOn(t, one.dsn, func(target *Target) { target.Run = 3 })
	zone := one.get("SELECT current_setting('TimeZone')")
	one.serveAs("one")
	one.settled()
	one.eventually("one leads 8 "+zone, inControl)
	two.serveAs("two")
	one.eventually("one leads 8 "+zone+", two stands by 3 "+zone, inControl)
	if got := one.get("SELECT bool_and(host > '' AND pid > 0 AND version = 'devel' AND since <= seen AND seen > now() - interval '1 min') FROM task_leader"); got != "true" {
		t.Error("the rows are ", got)
	}
	since := one.get("SELECT since FROM task_leader WHERE controller = 'two'")
	one.exec("INSERT INTO task_leader (controller, leads, since, seen) VALUES ('old', true, '2020-01-01', now() - interval '25 hours'), ('dead', true, '2020-01-01', now())")
	one.drain()
	two.settled()
	two.eventually("dead stands by, one stands by 8 "+zone+", two leads 3 "+zone, inControl)
	if got := one.get("SELECT since FROM task_leader WHERE controller = 'two'"); got == since {
		t.Error("two leads since it stands by")
	}
}

// TestALeaderThatDrainsShowsIt: as soon as it has given up the lead.
func TestALeaderThatDrainsShowsIt(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.serveAs("one")
	s.settled()
	id := s.add("input", "SELECT pg_sleep(3)")
	s.becomes(id, "WORK")
	close(s.stop)
	s.eventually("one stands by 8 "+s.get("SELECT current_setting('TimeZone')"), inControl)
	if state := s.state(id); state != "WORK" {
		t.Error("the task is ", state)
	}
	<-s.ended
}

// TestWhatIsDoneToTheTableOfControllersHoldsNothingUp: the table is locked or dropped.
func TestWhatIsDoneToTheTableOfControllersHoldsNothingUp(t *testing.T) {
	t.Parallel()
	leads := "one leads 8 "
	t.Run("locked", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		if _, err := schema.Install(t.Context(), s.conn, s.target.Relation(), schema.Options{}); err != nil {
			t.Fatal(err)
		}
		s.serveAs("one")
		s.settled()
		s.eventually(leads+s.get("SELECT current_setting('TimeZone')"), inControl)
		locker := s.connect()
		must(t, locker, "BEGIN; LOCK TABLE task_leader")
		s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
		s.until("leading again", func() bool { return s.leads() >= 2 })
		began := time.Now()
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		if took := time.Since(began); took > servertest.Limit(3*time.Second) {
			t.Error("a task took ", took)
		}
		must(t, locker, "COMMIT")
	})
	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		s.serveAs("one")
		s.settled()
		s.eventually(leads+s.get("SELECT current_setting('TimeZone')"), inControl)
		s.exec("DROP TABLE task_leader")
		s.eventually("true", "SELECT to_regclass('task_leader') IS NOT NULL")
		s.eventually(leads+s.get("SELECT current_setting('TimeZone')"), inControl)
		s.becomes(s.add("input", "SELECT 1"), "DONE")
	})
}

// TestTheServingRoleMayWriteWhoLeads: and nobody else may, if the dsn's user makes the table.
// Rights that default privileges have granted are revoked.
func TestTheServingRoleMayWriteWhoLeads(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	role := s.role()
	s.exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC; ALTER DEFAULT PRIVILEGES GRANT TRIGGER, REFERENCES ON TABLES TO PUBLIC")
	s.target.Connect = s.target.Connect.With(remote.Settings{"user": role})
	s.serveAs("one")
	s.settled()
	s.eventually("one leads 8 "+s.get("SELECT current_setting('TimeZone')"), inControl)
	if rights := s.get("SELECT string_agg(r, ' ') FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) AS r WHERE has_table_privilege('" + role + "', 'task_leader', r)"); rights != "SELECT INSERT UPDATE DELETE" {
		t.Error("the serving role may ", rights)
	}
	stranger := s.role()
	if got := s.get("SELECT has_any_column_privilege('" + stranger + "', 'task_leader', 'INSERT') OR has_table_privilege('" + stranger + "', 'task_leader', 'TRIGGER, SELECT')"); got != "false" {
		t.Error("a stranger may write, or read all of it")
	}
	if got := s.get("SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'task_leader'::regclass AND attnum > 0 AND has_column_privilege('" + stranger + "', attrelid, attnum, 'SELECT')"); got != "leads since seen run timezone" {
		t.Error("a stranger may read ", got)
	}
}
