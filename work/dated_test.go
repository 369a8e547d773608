package work

import (
	"strings"
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

// TestALongRunEndsWhereNoMoreSessionsMayBeOpened, and does not run again: the ledger goes without a
// connection of its own.
func TestALongRunEndsWhereNoMoreSessionsMayBeOpened(t *testing.T) {
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
	s.exec(`DO $$BEGIN EXECUTE format('ALTER ROLE ` + role + ` CONNECTION LIMIT %s',
		(SELECT count(*) FROM pg_stat_activity WHERE usename = '` + role + `')); END$$`)
	must(t, gate, "COMMIT")
	s.becomes(id, "DONE")
	if effects := s.get("SELECT string_agg(id::text, ' ') FROM effect"); effects != "1" {
		t.Error("effects ", effects)
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

// TestARunThatLocksTheTableEnds: its row is prepared before it begins, the second time. One that must
// be the first of its transaction cannot run so, and one that sees everything as it was when that began
// cannot change its row: they FAIL, and say how it would go.
func TestARunThatLocksTheTableEnds(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect ()")
	for input, want := range map[string]string{
		"INSERT INTO effect DEFAULT VALUES; SELECT pg_sleep(0.3); LOCK TABLE task": `{"state":"DONE","attempt":1,"sqlstate":null,"hints":null}`,
		dated + "INSERT INTO effect DEFAULT VALUES; LOCK TABLE task":               `{"state":"FAIL","attempt":1,"sqlstate":"25001","hints":true}`,
		"UPDATE task SET data = 'x' WHERE " + own + "; SET TRANSACTION READ ONLY":  `{"state":"DONE","attempt":1,"sqlstate":null,"hints":null}`,
		"UPDATE task SET data = 'repeatable read' WHERE " + own:                    `{"state":"FAIL","attempt":1,"sqlstate":"40001","hints":true}`,
	} {
		var settings *string
		if strings.Contains(input, "'repeatable read'") {
			settings = new(string)
			*settings = `{"default_transaction_isolation": "repeatable read"}`
		}
		id := s.add("input, settings", input, settings)
		s.becomes(id, "DONE", "FAIL")
		if row := s.row(id, "state, attempt, sqlstate, error LIKE E'%\\nHINT: %' AS hints"); row != want {
			t.Error(input, row, s.get("SELECT error FROM task WHERE id = $1", id))
		}
	}
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
