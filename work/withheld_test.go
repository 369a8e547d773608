package work

import (
	"fmt"
	"testing"

	"pgtaskd/remote"
)

// Tests of rows that a policy, or a change by somebody else, withholds from the end of their task.

// guarded serves a table whose owner, a role of its own, is subject to the policies that it has.
func guarded(t *testing.T, policies string, change ...func(*Target)) *stage {
	t.Helper()
	var role string
	s := prepared(t, append(change, func(target *Target) {
		role = "owner_of_" + target.Connect["dbname"]
		target.Connect = remote.Settings{}
		for key, value := range target.Admin {
			target.Connect[key] = value
		}
		target.Connect["user"] = role
	})...)
	s.exec("CREATE ROLE " + role + " LOGIN; GRANT CREATE ON SCHEMA public TO " + role) // it goes with the server
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8); GRANT ALL ON effect TO PUBLIC")
	if owner := s.get("SELECT tableowner FROM pg_tables WHERE tablename = 'task'"); owner != role {
		t.Fatal("the owner is ", owner)
	}
	s.exec("ALTER TABLE task ENABLE ROW LEVEL SECURITY; ALTER TABLE task FORCE ROW LEVEL SECURITY; " + policies)
	return s
}

// effects is how many a task has had.
func (s *stage) effects(id int64) string {
	s.t.Helper()
	return s.get("SELECT count(*) FROM effect WHERE id = $1", id)
}

// TestPolicies: a policy that does not let a row become DONE undoes nothing. The row stays WORK, for
// as long as the policy is there, and the log says so; nothing runs twice.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := guarded(t, `
		CREATE POLICY seen ON task USING (data IS DISTINCT FROM 'odd' OR state NOT IN ('TAKE', 'WORK'))
			WITH CHECK (data IS DISTINCT FROM 'no end' OR state <> 'DONE')`)
	inputs := map[int64]string{}
	for _, input := range []string{effect, effect + "SELECT pg_sleep(0.3)", "BEGIN; " + effect + "COMMIT"} {
		inputs[s.add(`data, input, "group"`, "no end", input, input)] = input
	}
	for id, input := range inputs {
		s.says(`"level":"error"`, "row left unchanged", "row-level security policy", fmt.Sprintf(`"id":%d`, id))
		if row := s.row(id, "state, attempt"); row != `{"state":"WORK","attempt":1}` || s.effects(id) != "1" {
			t.Errorf("%s: %s, %s effects", input, row, s.effects(id))
		}
		s.others()
	}
	// One that cannot be marked, and must be.
	odd := s.add("data, input, rerun", "odd", "SELECT 1", false)
	s.others()
	s.becomes(odd, "FAIL")
}

// TestChangedMeanwhile: a change of the row by somebody else makes the end fail in a transaction
// that does not see it (40001). That is no fault of the task's.
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

// TestIsolationOfTheDatabase: nor is our own mark, where every transaction is strict by default.
func TestIsolationOfTheDatabase(t *testing.T) {
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
