//go:build slow

package work

import "testing"

// TestWritesOfALaneFindWhatItHasMade: a plan from before another task of the lane is not used
// behind it, though all have been taken before.
func TestWritesOfALaneFindWhatItHasMade(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE public.place (a int4)")
	s.serve()
	s.settled()
	user := s.get("SELECT quote_ident(current_user)")
	for _, lanes := range []int{1, 3} {
		s.exec("TRUNCATE task RESTART IDENTITY; DROP TABLE IF EXISTS " + user + ".place")
		s.exec(`INSERT INTO task (input, delete, "group") SELECT CASE WHEN i = 600 THEN 'CREATE TABLE `+user+`.place (a int4)'
			ELSE 'INSERT INTO place VALUES (1) RETURNING tableoid::regclass' END, false, i % $1 FROM generate_series(1, 1000) AS i`, lanes)
		s.eventually("1000", "SELECT count(*) FROM task WHERE state = 'DONE'")
		const made = "(SELECT t FROM task AS t WHERE id = 600)"
		if late := s.get(`SELECT count(*) FROM task WHERE start > (` + made + `).stop AND "group" = (` + made + `)."group" AND output = 'public.place'`); late != "0" {
			t.Errorf("%d lanes: %s tasks behind the one that made another table did not find it", lanes, late)
		}
	}
}

// TestWritesThatMayNotRunAgain: those with rerun = false run once, whatever rules there are.
func TestWritesThatMayNotRunAgain(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE TABLE elsewhere (a int4); CREATE RULE none AS ON DELETE TO elsewhere DO INSTEAD NOTHING; CREATE SEQUENCE calls; CREATE TABLE w (a int8)")
	s.exec("CREATE FUNCTION mail() RETURNS int8 LANGUAGE sql AS $$SELECT nextval('calls')$$")
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task (input, rerun, "group") SELECT 'INSERT INTO w SELECT mail() RETURNING a', false, 'g' || i % 4 FROM generate_series(1, 400) AS i`)
	s.eventually("400", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if calls := s.get("SELECT last_value FROM calls"); calls != "400" {
		t.Error("calls:", calls)
	}
}
