package work

import "testing"

// dated has a run see everything as it was when it began.
const dated = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; "

// TestARightThatIsGrantedChangesNothingForALongRun, though whoever has any right can have the row of
// the table written anew by that, as often as they like.
func TestARightThatIsGrantedChangesNothingForALongRun(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]string{"of the serving role": "", "of another role": "inserter"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(t *Target) { t.Inserter = role != "" })
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
