//go:build slow

package work

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgtaskd/sql"
)

// impostor has a role put something of its own in the place of the table, in the transaction that
// takes that away. Whoever else runs its function is counted, whatever comes of the statement.
func (s *stage) impostor(takeAway, how string) (role string) {
	s.t.Helper()
	role = s.role()
	s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + role)
	s.exec("SET ROLE " + role)
	s.exec(`CREATE SEQUENCE calls; GRANT USAGE ON SEQUENCE calls TO PUBLIC;
		CREATE FUNCTION evil() RETURNS bool LANGUAGE plpgsql VOLATILE AS $f$
		BEGIN IF current_user <> '` + role + `' THEN PERFORM nextval('public.calls'); END IF; RETURN false; END $f$;
		CREATE FUNCTION evil_trigger() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM public.evil(); RETURN NULL; END $f$`)
	s.exec("RESET ROLE")
	columns := s.get(`SELECT string_agg(format(CASE WHEN '` + how + `' = 'view' THEN 'CASE WHEN e.x THEN NULL::%s END AS %I' ELSE '%2$I %1$s' END,
		format_type(atttypid, NULL), attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attnum > 0 AND NOT attisdropped`)
	made := "CREATE VIEW task AS SELECT NULL::xid AS xmin, NULL::tid AS ctid, NULL::oid AS tableoid, " + columns + " FROM evil() AS e (x)"
	if how == "table" {
		made = "CREATE TABLE task (" + columns + "); ALTER TABLE task ENABLE ROW LEVEL SECURITY; INSERT INTO task (id, due) VALUES (1, '-infinity'); " +
			"CREATE POLICY evil ON task USING (evil()); CREATE TRIGGER evil BEFORE UPDATE ON task FOR EACH STATEMENT EXECUTE FUNCTION evil_trigger()"
	}
	s.exec("BEGIN; " + takeAway + "; SET LOCAL ROLE " + role + "; " + made + "; GRANT ALL ON task TO PUBLIC; COMMIT")
	return role
}

// TestAnotherInPlaceOfTheTable runs nothing, whatever woke the leader: it is refused, and its owner
// is named. When the table is back, it is served.
func TestAnotherInPlaceOfTheTable(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"view", "table"} {
		for name, notified := range map[string]bool{"at the beat": false, "notified": true} {
			t.Run(how+" "+name, func(t *testing.T) {
				t.Parallel()
				s := owned(t)
				s.serve()
				s.settled()
				s.serves()
				channel := s.waking().Channel
				role := s.impostor("ALTER TABLE task RENAME TO task_old", how)
				if notified {
					s.exec("SELECT pg_notify($1, '')", channel)
				}
				s.says("target failed", "belongs to role", role)
				if s.get("SELECT is_called FROM calls") != "false" {
					t.Error("its function was run")
				}
				s.exec("DROP " + how + " task; ALTER TABLE task_old RENAME TO task")
				s.until("led again", func() bool { return s.leads() > 1 })
				s.serves()
			})
		}
	}
}

// TestAnotherInPlaceOfTheDroppedTable while a task is under way runs nothing either.
func TestAnotherInPlaceOfTheDroppedTable(t *testing.T) {
	t.Parallel()
	s := owned(t, func(t *Target) { t.Sleep = time.Second })
	s.serve()
	s.settled()
	s.serves()
	id := s.add("input", "SELECT pg_sleep(100)")
	s.becomes(id, "WORK")
	role := s.impostor("DROP TABLE task CASCADE", "view")
	s.says("target failed", "belongs to role", role)
	if s.get("SELECT is_called FROM calls") != "false" {
		t.Error("its function was run")
	}
}

// TestEndInAnotherTable is not written: what has run for long is rolled back.
func TestEndInAnotherTable(t *testing.T) {
	t.Parallel()
	s := owned(t, func(t *Target) { t.Sleep = time.Second })
	s.exec("CREATE TABLE effect (id int8); GRANT ALL ON effect TO PUBLIC")
	s.serve()
	s.settled()
	s.serves()
	s.becomes(s.add("input, repeat", "INSERT INTO public.effect SELECT 1 FROM pg_sleep(3)", "1 year"), "WORK")
	role := s.impostor("DROP TABLE task CASCADE", "table")
	s.says("target failed", "belongs to role", role)
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pg_task %' AND xact_start IS NOT NULL AND datname = current_database()")
	if called, n := s.get("SELECT is_called FROM calls"), s.get("SELECT count(*) FROM effect"); called != "false" || n != "0" {
		t.Errorf("its function was run: %s; %s effects", called, n)
	}
}

// TestEndOfALongRunOfAnotherRole is written where the table is the same.
func TestEndOfALongRunOfAnotherRole(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.alice, "CREATE TABLE effect (id int8)")
	id := c.asks(c.alice, "INSERT INTO effect SELECT 1 FROM pg_sleep(1.1)", "repeat", "'1 day'")
	c.becomes(id, "DONE", "FAIL")
	if row := c.row(id, "state, attempt, error, next IS NOT NULL AS follows"); row != `{"state":"DONE","attempt":1,"error":null,"follows":true}` {
		t.Error(row)
	}
}

// TestAnotherInPlaceOfTheRegister, or of the tokens, is not written to.
func TestAnotherInPlaceOfTheRegister(t *testing.T) {
	t.Parallel()
	s := owned(t, func(t *Target) { t.Inserter = true })
	l := s.installed()
	at := enrolment{l.control.table.Register, l.control.pid}
	for name, write := range map[string]func() error{
		sql.Register(table(s.target)): func() error { return l.enter(t.Context(), at, nil, nil) },
		sql.Tokens(table(s.target)):   func() error { return l.disentitle(t.Context(), nil) },
	} {
		if err := write(); err != nil {
			t.Fatal(name, err)
		}
		role := s.role()
		s.exec("GRANT CREATE, USAGE ON SCHEMA public TO " + role)
		calls := "calls_of_" + role
		s.exec("SET ROLE " + role + "; CREATE SEQUENCE " + calls + "; GRANT USAGE ON SEQUENCE " + calls + " TO PUBLIC; " +
			"CREATE FUNCTION evil_" + role + "() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN PERFORM nextval('public." + calls + "'); RETURN NULL; END$f$; RESET ROLE")
		s.exec("BEGIN; ALTER TABLE " + name + " RENAME TO old_" + role + "; SET LOCAL ROLE " + role + "; CREATE TABLE " + name +
			" (pid int4, started timestamptz, token bytea); GRANT ALL ON " + name + " TO PUBLIC; " +
			"CREATE TRIGGER evil BEFORE INSERT OR DELETE ON " + name + " FOR EACH STATEMENT EXECUTE FUNCTION evil_" + role + "(); COMMIT")
		if err := write(); !errors.Is(err, errReplaced) {
			t.Errorf("%s: %v", name, err)
		}
		if s.get("SELECT is_called FROM "+calls) != "false" {
			t.Errorf("%s: its trigger was run", name)
		}
		s.exec("DROP TABLE " + name + "; ALTER TABLE old_" + role + " RENAME TO " + strings.TrimPrefix(name, `"public".`))
		if err := write(); err != nil {
			t.Error(name, err)
		}
	}
}
