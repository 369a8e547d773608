//go:build slow

package work

import "testing"

// TestAnEndFindsItsRowByTheIndexInATableThatHasGrown: its statement was planned for an empty one.
func TestAnEndFindsItsRowByTheIndexInATableThatHasGrown(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`ALTER TABLE task SET (autovacuum_enabled = false);
		ANALYZE task;
		CREATE TABLE effect (id int8);
		CREATE TABLE seen (id int8, rows int8);
		CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			INSERT INTO seen SELECT NEW.id, seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'task';
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER seen AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION seen()`)
	run := func() (last int64) {
		for range 10 {
			last = s.add("input", "INSERT INTO effect SELECT count(*) FROM effect")
			s.becomes(last, "DONE")
		}
		return last
	}
	before := run()
	s.exec("INSERT INTO task (input, plan) SELECT 'SELECT 1', 'infinity' FROM generate_series(1, 30000)")
	run()
	if n := s.get("SELECT count(DISTINCT pid) FROM task WHERE state = 'DONE'"); n != "1" {
		t.Error("sessions: ", n)
	}
	if rows := s.get("SELECT max(rows) FROM seen WHERE id > $1", before); rows != "0" {
		t.Errorf("an end has read %s rows of the table", rows)
	}
}
