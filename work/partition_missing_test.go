package work

import (
	"testing"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// withoutChildren is a table without a partition for repetitions and other tasks that follow one.
const withoutChildren = `CREATE TABLE task (id bigserial, parent int8, input text NOT NULL) PARTITION BY LIST ((parent IS NULL));
	CREATE TABLE task_first PARTITION OF task FOR VALUES IN (true)`

const partitionOfChildren = "CREATE TABLE task_children PARTITION OF task FOR VALUES IN (false)"

// TestAMissingPartitionEndsNoSeriesOfARole: its effects and its repetition come once.
func TestAMissingPartitionEndsNoSeriesOfARole(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
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

// TestATaskWhoseEndLacksAPartitionCanBeStopped: or its repetition can be taken away. Its end is
// written soon after that.
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
		// Its end waits.
		s.eventually("true", "SELECT a.state = 'idle' FROM task AS t JOIN pg_stat_activity AS a USING (pid) WHERE t.id = $1", id)
		s.exec("UPDATE task SET "+change+" WHERE id = $1", id)
		s.eventually(end, "SELECT CASE WHEN stop IS NOT NULL THEN state::text END FROM task WHERE id = $1", id)
	}
}

// TestEndsThatLackAPartitionHoldNoPlace: other tasks run, however large the waiting ends are. When
// there is a partition, all ends are written.
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
