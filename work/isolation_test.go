package work

import (
	"strings"
	"testing"
)

// dated makes a run see the database as it was when the run began.
const dated = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; "

// TestARepeatableReadRunEndsOnce: whatever happens between its snapshot and its end. A GRANT
// rewrites the table's row in pg_class, and any role that can pass on a right can cause it. If no
// more sessions may be opened, the ledger writes on the control connection.
func TestARepeatableReadRunEndsOnce(t *testing.T) {
	t.Parallel()
	const grant = "SELECT pg_sleep(1); GRANT SELECT ON task TO $stranger" // after a second the run counts as long
	for name, c := range map[string]struct {
		staged    func(*testing.T, ...func(*Target)) *stage
		inserter  bool
		meanwhile string
	}{
		"a GRANT to a run of the serving role": {furnished, false, grant},
		"a GRANT to a run of another role":     {furnished, true, grant},
		"no more sessions may be opened": {owned, false, `DO $$BEGIN EXECUTE format('ALTER ROLE $serving CONNECTION LIMIT %s',
			(SELECT count(*) FROM pg_stat_activity WHERE usename = '$serving')); END$$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.staged(t, func(t *Target) { t.Inserter = c.inserter })
			s.serve()
			s.settled()
			s.exec("CREATE TABLE gate (); CREATE TABLE effect (id int8); CREATE SEQUENCE tries; GRANT ALL ON effect, gate TO PUBLIC; GRANT ALL ON SEQUENCE tries TO PUBLIC")
			gate := s.connect()
			must(t, gate, "BEGIN; LOCK TABLE gate")
			id := s.add("input", dated+"INSERT INTO effect VALUES (nextval('tries')); SELECT FROM gate")
			s.becomes(id, "WORK")
			s.exec(strings.NewReplacer("$stranger", s.role(), "$serving", s.target.Connect["user"]).Replace(c.meanwhile))
			must(t, gate, "COMMIT")
			s.becomes(id, "DONE")
			if effects := s.get("SELECT string_agg(id::text, ' ') FROM effect"); effects != "1" {
				t.Error("effects ", effects)
			}
		})
	}
}

// TestAStrictRunOfAnotherRoleEndsOnce: although its snapshot is as old as its start.
func TestAStrictRunOfAnotherRoleEndsOnce(t *testing.T) {
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

// TestChangedMeanwhile: somebody else changes the row, so a transaction that does not see the
// change could not write the end (40001). That is not the task's fault.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, level := range map[string]string{
		"named":  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; ",
		"strict": "BEGIN ISOLATION LEVEL SERIALIZABLE; ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE TABLE effect (id int8); CREATE SEQUENCE ran; CREATE FUNCTION ran() RETURNS int8 LANGUAGE sql AS $$SELECT nextval('ran')$$")
			id := s.add("input, repeat, retry", level+effect+"SELECT ran(), pg_sleep(0.3)", "1 year", 1)
			s.eventually("true", "SELECT is_called FROM ran")
			s.exec("UPDATE task SET priority = 7 WHERE id = $1", id)
			s.becomes(id, "DONE", "FAIL")
			if row := s.row(id, "state, attempt, interrupted, priority, error"); row != `{"state":"DONE","attempt":1,"interrupted":0,"priority":7,"error":null}` {
				t.Error(row)
			}
			if n := s.effects(id); n != "1" {
				t.Error("effects: ", n)
			}
			if n := s.get("SELECT last_value FROM ran"); n < "2" {
				t.Error("runs: ", n)
			}
			s.others()
		})
	}
}

// TestTasksEndWellWhereSerializableIsTheDefault: our own marks and ends succeed, too.
func TestTasksEndWellWhereSerializableIsTheDefault(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	name := s.get("SELECT current_database()")
	s.exec("ALTER DATABASE " + name + " SET default_transaction_isolation TO 'serializable'")
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8)")
	for _, input := range []string{effect, effect + "SELECT pg_sleep(0.3)", "SELECT pg_sleep(0.3)", "BEGIN; " + effect + "COMMIT"} {
		id := s.add("input, repeat", input, "1 year")
		s.becomes(id, "DONE", "FAIL")
		if row := s.row(id, "state, attempt, interrupted, error"); row != `{"state":"DONE","attempt":1,"interrupted":0,"error":null}` {
			t.Error(input, row)
		}
	}
	if n := s.get("SELECT count(*) || ' ' || count(DISTINCT id) FROM effect"); n != "3 3" {
		t.Error("effects: ", n)
	}
}
