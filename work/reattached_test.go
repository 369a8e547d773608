package work

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestAPartitionThatComesBackHoldsUpNoLane: what ran when its partition was detached is found to be
// cut off when that is attached again, be it that its session was ended, or has gone on with others
// as the end was refused. Others of its lane go on.
func TestAPartitionThatComesBackHoldsUpNoLane(t *testing.T) {
	t.Parallel()
	for name, sleep := range map[string]time.Duration{
		"cut off": time.Second, "refused": time.Hour, // it is not looked whether tasks were stopped
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(target *Target) { target.Sleep, target.Run, target.Reset = sleep, 2, time.Hour })
			s.exec(`CREATE TABLE task (id bigserial, input text NOT NULL, "group" text NOT NULL DEFAULT 'group') PARTITION BY RANGE (id);
				CREATE TABLE first PARTITION OF task FOR VALUES FROM (2) TO (3); CREATE TABLE rest PARTITION OF task DEFAULT; CREATE TABLE effect (id int8)`)
			s.serve()
			s.settled()
			s.exec("SELECT pg_advisory_lock(7)")
			s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(100)", "runs"), "WORK") // each second it is looked whether it is to be cancelled
			id := s.add("input, rerun", "INSERT INTO effect VALUES (1); SELECT pg_advisory_xact_lock_shared(7)", false)
			s.becomes(id, "WORK")
			pid := s.get("SELECT pid FROM task WHERE id = $1", id)
			behind := s.add("input", "SELECT 2")
			s.exec("ALTER TABLE task DETACH PARTITION first")
			if name == "cut off" {
				s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid)
			}
			s.exec("SELECT pg_advisory_unlock(7)")
			s.becomes(behind, "DONE")
			if again := s.get("SELECT pid FROM task WHERE id = $1", behind); name == "refused" && again != pid {
				t.Errorf("session %s, then %s", pid, again)
			}
			s.exec("ALTER TABLE task ATTACH PARTITION first FOR VALUES FROM (2) TO (3)")
			began := time.Now()
			behind = s.add("input", "SELECT 3")
			s.becomes(id, "FAIL") // rerun is false
			s.becomes(behind, "DONE")
			if took := time.Since(began); took > servertest.Limit(8*time.Second) {
				t.Error("the lane stood still for ", took)
			}
			if row := s.row(id, "interrupted, (SELECT count(*) FROM effect) AS effects"); row != `{"interrupted":1,"effects":0}` {
				t.Error(row)
			}
		})
	}
}
