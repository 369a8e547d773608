package work

import (
	"testing"
	"time"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
	"pgtaskd/sql/schema"
)

// TestACronTaskIsPlannedIntoAnotherPartition: a row that moves is inserted there.
func TestACronTaskIsPlannedIntoAnotherPartition(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	s := prepared(t)
	s.exec(`CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL DEFAULT 'SELECT 1') PARTITION BY RANGE (plan);
		DO $$BEGIN
			EXECUTE format('CREATE TABLE early PARTITION OF task FOR VALUES FROM (MINVALUE) TO (%L)', now() + '1 hour');
			EXECUTE format('CREATE TABLE late PARTITION OF task FOR VALUES FROM (%L) TO (MAXVALUE)', now() + '1 hour');
		END$$`)
	s.serve()
	s.settled()
	id := s.add("input, cron", "SELECT 1", "@every 2000h")
	s.eventually("true", "SELECT plan > now() + '1000 hours' AND origin IS NULL AND state = 'PLAN' AND tableoid = 'late'::regclass FROM task WHERE id = $1", id)
	s.exec("UPDATE task SET plan = now() WHERE id = $1", id)
	s.becomes(id, "DONE")
	s.eventually("true", "SELECT n.plan > now() + '1000 hours' AND n.origin IS NULL FROM task AS t JOIN task AS n ON n.parent = t.id WHERE t.id = $1", id)
}

// TestAPartitionThatComesBackHoldsUpNoLane: a task ran when its partition was detached, and counts
// as cut off when the partition is attached again. Its session was ended, or has gone on with other
// tasks because the end was refused. Other tasks of the lane go on.
func TestAPartitionThatComesBackHoldsUpNoLane(t *testing.T) {
	t.Parallel()
	for name, sleep := range map[string]time.Duration{
		"cut off": time.Second, "refused": time.Hour, // an hour: the leader does not look for stopped tasks
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "refused" && servertest.Lacks(t, major.PartitionedTriggers) {
				return
			}
			s := prepared(t, func(target *Target) { target.Sleep, target.Run, target.Reset = sleep, 2, time.Hour })
			s.exec(`CREATE TABLE task (id bigserial, input text NOT NULL, "group" text NOT NULL DEFAULT 'group') PARTITION BY RANGE (id);
				CREATE TABLE first PARTITION OF task FOR VALUES FROM (2) TO (3); CREATE TABLE rest PARTITION OF task DEFAULT; CREATE TABLE effect (id int8)`)
			s.serve()
			s.settled()
			s.exec("SELECT pg_advisory_lock(7)")
			// Makes the leader check each second whether to cancel it.
			s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(100)", "runs"), "WORK")
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

// TestAMarkMovesARowToAnotherPartition: a table may be partitioned by state.
func TestAMarkMovesARowToAnotherPartition(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(`CREATE TYPE state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
		CREATE TABLE task (id bigserial, state state NOT NULL DEFAULT 'PLAN', input text NOT NULL) PARTITION BY LIST (state);
		CREATE TABLE over PARTITION OF task FOR VALUES IN ('DONE', 'FAIL', 'GONE'); CREATE TABLE rest PARTITION OF task DEFAULT; CREATE TABLE works PARTITION OF task FOR VALUES IN ('WORK')`)
	s.serve()
	s.settled()
	id := s.add("input, delete", "VACUUM", false)
	s.becomes(id, "DONE")
}

// TestATableAboveIsServed: a partition of it is refused as long as the whole table is served.
func TestATableAboveIsServed(t *testing.T) {
	t.Parallel()
	s := owned(t)
	role := s.target.Connect["user"]
	s.on(s.conn, "CREATE TABLE whole (id bigserial, plan timestamptz NOT NULL DEFAULT now(), input text NOT NULL) PARTITION BY RANGE (plan); "+
		"CREATE TABLE task PARTITION OF whole FOR VALUES FROM (MINVALUE) TO (MAXVALUE); ALTER TABLE whole OWNER TO "+role+"; ALTER TABLE task OWNER TO "+role)
	whole := s.target
	whole.Table = "whole"
	if _, err := schema.Install(t.Context(), s.connectAs(role), whole.Relation(), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	above := &stage{t: t, dsn: s.dsn, target: whole, conn: s.connect()}
	s.serve()
	s.settled()
	s.serves()
	above.serve()
	above.says("standing by", role)
	s.drain()
	above.settled()
	s.serve()
	s.says("which is served, too", role)
	if above.leads() != 1 || s.leads() != 1 {
		t.Error(above.leads(), s.leads(), "leaders")
	}
}
