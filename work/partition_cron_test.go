package work

import "testing"

// TestACronTaskIsPlannedIntoAnotherPartition, where a row that moves is inserted.
func TestACronTaskIsPlannedIntoAnotherPartition(t *testing.T) {
	t.Parallel()
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
