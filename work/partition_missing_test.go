package work

import (
	"strings"
	"testing"
)

// withoutChildren is a table that has no partition for the tasks that follow on others.
const withoutChildren = `CREATE TABLE task (id bigserial, parent int8, input text NOT NULL) PARTITION BY LIST ((parent IS NULL));
	CREATE TABLE task_first PARTITION OF task FOR VALUES IN (true)`

const partitionOfChildren = "CREATE TABLE task_children PARTITION OF task FOR VALUES IN (false)"

// TestAMissingPartitionEndsNoSeries: the ends wait until there is one, and the log names the table
// once. Effects are there at once, and come once; each task of on_fail comes.
func TestAMissingPartitionEndsNoSeries(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(withoutChildren)
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8)")
	states := map[int64]string{}
	for i, c := range [][2]string{
		{"SELECT 1", "DONE"},
		{"INSERT INTO effect VALUES (1)", "DONE"},
		{"VACUUM effect", "DONE"},
		{"SELECT 1/0", "FAIL"},
		{"BEGIN; INSERT INTO effect VALUES (2); COMMIT", "DONE"},
	} {
		states[s.add(`input, repeat, plan, "group"`, c[0], "1 day", "infinity", string(rune('a'+i)))] = c[1]
	}
	states[s.add(`input, cron, plan, "group"`, "INSERT INTO effect VALUES (3)", "@every 2000h", "infinity", "cron")] = "DONE"
	states[s.add(`input, repeat, plan, overlap, max_failures, "group"`, "SELECT 1", "1 day", "infinity", true, 1, "overlap")] = "DONE"
	states[s.add(`input, on_fail, plan, "group"`, "SELECT 1/0", "SELECT 'then'", "infinity", "fails")] = "FAIL"
	late := s.add(`input, repeat, plan, active`, "SELECT 1", "1 day", "infinity", "1 min")
	s.exec("UPDATE task SET plan = now() - CASE WHEN id = $1 THEN interval '1 hour' ELSE '0' END", late)
	s.says(`"error"`, "has no partition for what follows", `no partition of relation \"task\"`, "make the partition")
	s.eventually("1 2 3", "SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect")
	for id := range states {
		s.eventually("true", "SELECT state IN ('PLAN', 'WORK') FROM task WHERE id = $1", id)
	}
	s.becomes(s.add("input", "INSERT INTO effect SELECT 4 WHERE false"), "DONE") // what nothing follows on goes on
	s.exec(partitionOfChildren)
	for id, state := range states {
		s.becomes(id, state)
		if n := s.get("SELECT count(*) FROM task WHERE parent = $1", id); n != "1" {
			t.Errorf("%s: %s tasks follow", s.row(id, "input, state, error"), n)
		}
	}
	if n := s.get("SELECT string_agg(id::text, ' ' ORDER BY id) FROM effect"); n != "1 2 3" {
		t.Errorf("effects: %s", n)
	}
	if state := s.state(late); state == "GONE" && s.get("SELECT count(*) FROM task WHERE parent = $1", late) != "1" {
		t.Error("it has expired without a repetition: ", s.row(late, "error"))
	}
	if n := strings.Count(s.logged(), "has no partition for what follows"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
}

// TestAMissingPartitionEndsNoSeriesOfARole, either.
func TestAMissingPartitionEndsNoSeriesOfARole(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) {
		c.must("postgres", withoutChildren+"; ALTER TABLE task OWNER TO $serving; ALTER TABLE task_first OWNER TO $serving")
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice; GRANT USAGE ON SEQUENCE task_id_seq TO $alice"))
	c.must(c.alice, "CREATE TABLE effect (id int8)")
	id := c.asks(c.alice, "INSERT INTO effect VALUES (1)", "repeat", "'1 day'")
	c.says(`"error"`, "has no partition for what follows", `no partition of relation \"task\"`)
	c.must(c.serving, partitionOfChildren)
	c.becomes(id, "DONE")
	if got := c.get("SELECT (SELECT count(*) FROM effect) || ' ' || count(*) FROM task WHERE parent = $1 AND role = $2", id, c.alice); got != "1 1" {
		t.Error("effects and repetitions: ", got)
	}
}

// TestATaskWhoseEndLacksAPartitionCanBeStopped: or lose its repetition: its end is written soon
// after.
func TestATaskWhoseEndLacksAPartitionCanBeStopped(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(withoutChildren)
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect ()")
	for change, end := range map[string]string{"state = 'STOP'": "STOP", "repeat = '0'": "DONE"} {
		id := s.add(`input, repeat, rerun, "group"`, "VACUUM effect", "1 day", false, change)
		s.becomes(id, "WORK")
		s.eventually("true", "SELECT a.state = 'idle' FROM task AS t JOIN pg_stat_activity AS a USING (pid) WHERE t.id = $1", id) // its end waits
		s.exec("UPDATE task SET "+change+" WHERE id = $1", id)
		s.eventually(end, "SELECT CASE WHEN stop IS NOT NULL THEN state::text END FROM task WHERE id = $1", id)
	}
}

// TestEndsThatLackAPartitionHoldNoPlace: other tasks run, however large the waiting ends are; all
// are written when there is a partition.
func TestEndsThatLackAPartitionHoldNoPlace(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 4 })
	s.exec(withoutChildren)
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task ("group", repeat, input) SELECT 'g' || i, '1 day', 'SELECT repeat(''x'', 6000000); SELECT 1/0' FROM generate_series(1, 8) AS i`)
	s.says("has no partition for what follows")
	s.others()
	s.exec(partitionOfChildren)
	s.eventually("8 8", "SELECT count(*) FILTER (WHERE state = 'FAIL') || ' ' || count(next) FROM task WHERE repeat > '0' AND parent IS NULL")
}
