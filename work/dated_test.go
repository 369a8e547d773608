package work

import (
	"errors"
	"testing"
)

// dated has a run see everything as it was when it began.
const dated = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; "

// TestARightThatIsGrantedChangesNothingForALongRun, though whoever has any right can have the row of
// the table written anew by that, as often as they like.
func TestARightThatIsGrantedChangesNothingForALongRun(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]string{"of the serving role": "", "of another role": "inserter"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := furnished(t, func(t *Target) { t.Inserter = role != "" })
			s.serve()
			s.settled()
			s.exec("CREATE TABLE gate (); CREATE TABLE effect (id int8); CREATE SEQUENCE tries")
			gate := s.connect()
			must(t, gate, "BEGIN; LOCK TABLE gate")
			id := s.add("input", dated+"INSERT INTO effect VALUES (nextval('tries')); SELECT FROM gate")
			s.becomes(id, "WORK")
			s.exec("SELECT pg_sleep(1)") // it lasts
			s.exec("GRANT SELECT ON task TO " + s.role())
			must(t, gate, "COMMIT")
			s.becomes(id, "DONE")
			if effect := s.get("SELECT string_agg(id::text, ' ') FROM effect"); effect != "1" {
				t.Errorf("effects %s", effect)
			}
		})
	}
}

// TestALongRunEndsWhereNoMoreSessionsMayBeOpened: a session that lies ready makes room for the look
// at the owners. Where there is none, the run is rolled back, and the row says what is lacking.
func TestALongRunEndsWhereNoMoreSessionsMayBeOpened(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]bool{"one lies ready": true, "all are at work": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := owned(t)
			role := s.target.Connect["user"]
			s.serve()
			s.settled()
			s.exec("CREATE TABLE effect (id int8); CREATE SEQUENCE tries; CREATE TABLE gate (); GRANT ALL ON effect, gate TO PUBLIC; GRANT ALL ON SEQUENCE tries TO PUBLIC")
			gate := s.connect()
			must(t, gate, "BEGIN; LOCK TABLE gate")
			id := s.add("input", dated+"INSERT INTO effect VALUES (nextval('tries')); SELECT FROM gate")
			s.becomes(id, "WORK")
			if ready {
				s.becomes(s.add(`input, "group"`, "SELECT 1", "other"), "DONE")
			}
			s.exec("SELECT pg_sleep(1)") // it lasts
			s.exec(`DO $$BEGIN EXECUTE format('ALTER ROLE ` + role + ` CONNECTION LIMIT %s',
				(SELECT count(*) FROM pg_stat_activity WHERE usename = '` + role + `')); END$$`)
			must(t, gate, "COMMIT")
			if !ready {
				must(t, gate, "BEGIN; LOCK TABLE gate") // when that run is over
				s.says("cannot open more sessions", "53300")
				s.eventually("true", "SELECT error LIKE '%one session more%' FROM task WHERE id = $1", id)
				s.exec("ALTER ROLE " + role + " CONNECTION LIMIT -1")
				must(t, gate, "COMMIT")
			}
			s.becomes(id, "DONE")
			if effects := s.get("SELECT count(*) FROM effect"); effects != "1" {
				t.Errorf("%s effects", effects)
			}
			if once := s.get("SELECT last_value = 1 FROM tries"); ready && once != "true" {
				t.Error("it has run again")
			}
		})
	}
}

// TestALongRunLocksTheTableBeforeItIsLookedAt: who waits to give the table away gets their turn before
// the look, or when the run is over.
func TestALongRunLocksTheTableBeforeItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	thief := s.role()
	s.exec("CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine TO PUBLIC; CREATE SEQUENCE mine.calls; " +
		"CREATE FUNCTION mine.proves() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN PERFORM nextval('mine.calls'); RETURN NEW; END$$")
	s.serve()
	s.settled()
	s.exec("CREATE TABLE gate ()")
	gate, honest, gives, steals := s.connect(), s.connect(), s.connect(), s.connect()
	must(t, gate, "BEGIN; LOCK TABLE gate")
	id := s.add("input", dated+"CREATE TEMPORARY TABLE effect (); SELECT FROM gate")
	s.becomes(id, "WORK")
	s.exec("SELECT pg_sleep(1)") // it lasts
	must(t, honest, "BEGIN; INSERT INTO task (input, plan) VALUES ('SELECT 1', 'infinity')")
	given := s.waits(gives, "ALTER TABLE task OWNER TO "+thief)
	stolen := s.waits(steals, "CREATE TRIGGER evil BEFORE UPDATE ON task FOR EACH STATEMENT EXECUTE FUNCTION mine.proves()")
	must(t, gate, "COMMIT")
	s.eventually("true", "SELECT count(*) >= 3 FROM pg_locks WHERE NOT granted AND relation = 'task'::regclass")
	must(t, honest, "COMMIT")
	if err := errors.Join(<-given, <-stolen); err != nil {
		t.Fatal(err)
	}
	s.says("belongs to role " + thief)
	s.drain()
	if s.get("SELECT is_called FROM mine.calls") != "false" {
		t.Errorf("the end is written: %s", s.row(id, "state, error"))
	}
}

// TestALongRunOfAnotherRoleEnds, once, though it sees everything as it was when it began.
func TestALongRunOfAnotherRoleEnds(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.alice, "CREATE TABLE effect (id int4)")
	for _, how := range []string{dated, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; "} {
		id := c.asks(c.alice, how+"INSERT INTO effect SELECT 1 FROM pg_sleep(1.2)")
		c.becomes(id, "DONE")
		if attempts := c.row(id, "attempt"); attempts != `{"attempt":1}` {
			t.Error(attempts)
		}
	}
}

// TestALongRunThatLocksTheTableEnds: who looks for it waits for no lock.
func TestALongRunThatLocksTheTableEnds(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect ()")
	id := s.add("input", dated+"INSERT INTO effect DEFAULT VALUES; SELECT pg_sleep(1.2); LOCK TABLE task")
	s.becomes(id, "DONE")
	if got := s.get("SELECT count(*) FROM effect"); got != "1" {
		t.Error(got, " effects")
	}
}

// TestALongRunEndsWhileAnotherLeads, once, whatever it sees.
func TestALongRunEndsWhileAnotherLeads(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE gate (); CREATE SEQUENCE tries; CREATE TABLE effect (id int8)")
	gate := s.connect()
	must(t, gate, "BEGIN; LOCK TABLE gate")
	id := s.add("input", dated+"INSERT INTO effect VALUES (nextval('tries')); SELECT FROM gate")
	s.becomes(id, "WORK")
	close(s.stop)
	next := stageOn(t, s.dsn, func(t *Target) { *t = s.target })
	next.serve()
	next.becomes(next.add(`input, "group"`, "SELECT 1", "other"), "DONE") // it leads
	next.exec("SELECT pg_sleep(1)")
	must(t, gate, "COMMIT")
	<-s.ended
	next.becomes(id, "DONE")
	if got := next.get("SELECT string_agg(id::text, ' ') FROM effect"); got != "1" {
		t.Error("effects ", got)
	}
}
