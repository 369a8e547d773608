package work

import (
	"fmt"
	"testing"

	"pgtaskd/server/tasktest"
)

// TestOneLockedRowIsSetAsideAlone: the ends, marks and recoveries of other rows are written at
// once, and those of the locked row when the lock is gone.
func TestOneLockedRowIsSetAsideAlone(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(map[string]struct{ columns, values, odd string }{
		"retry":     {"input, retry, backoff", "'SELECT pg_sleep(1); SELECT 1/0', 1, '1 ms'", "FAIL"},
		"mark":      {"input, overlap, repeat", "'SELECT pg_sleep(1)', true, '1 h'", "DONE"},
		"recovered": {"input, state, pid, start, rerun", "'SELECT 1', 'WORK', 1, now(), true", "DONE"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, tasktest.Database(t), func(t *Target) { t.Run = 100 })
			if name == "mark" { // the key is not free at any moment before the mark
				s.exec("CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END$$; " +
					"CREATE TRIGGER taken AFTER UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'WORK' AND NEW.key IS NOT NULL) EXECUTE FUNCTION taken()")
			}
			s.exec("ALTER TABLE task DISABLE TRIGGER USER")
			for i := range 40 {
				key := "NULL"
				if i == 17 {
					key = "'locked'"
				}
				s.exec(fmt.Sprintf(`INSERT INTO task ("group", key, delete, %s) VALUES ('g%d', %s, false, %s)`, c.columns, i, key, c.values))
			}
			s.exec("ALTER TABLE task ENABLE TRIGGER USER")
			other := s.connect()
			take := `BEGIN; INSERT INTO task (input, key, plan, "group") VALUES ('', 'locked', now() + '1 day', 'zz')`
			switch name {
			case "recovered":
				s.on(other, take)
				s.serve()
			case "mark":
				s.on(other, "BEGIN; SELECT pg_advisory_xact_lock(7); INSERT INTO task (input, \"group\") VALUES ('', 'zz')")
				s.serve()
			default:
				s.serve()
				s.eventually("WORK", "SELECT state FROM task WHERE key = 'locked'")
				s.on(other, take)
			}
			s.eventually("39", "SELECT count(*) FROM task WHERE key IS NULL AND state IN ('DONE', 'FAIL') AND parent IS NULL")
			s.others()
			s.says(`"warn"`, "keeps a task's row from being changed", fmt.Sprintf("pid %d ", other.PgConn().PID()))
			s.on(other, "ROLLBACK")
			s.eventually(c.odd, "SELECT state FROM task WHERE key = 'locked' AND parent IS NULL")
		})
	}
}

// TestATaskThatMeetsALockAtEachEndKeepsNoOtherWaiting: others need not wait until it has run.
func TestATaskThatMeetsALockAtEachEndKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE SEQUENCE met; GRANT ALL ON SEQUENCE met TO PUBLIC; CREATE FUNCTION meets() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('public.met'); " +
		"RAISE 'locked' USING ERRCODE = '55P03'; END$$; " +
		"CREATE TRIGGER meets BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.data = 'odd' AND NEW.state = 'DONE') EXECUTE FUNCTION meets()")
	id := s.add("data, input", "odd", "SELECT txid_current(), pg_sleep(CASE WHEN (SELECT last_value FROM public.met) > 3 THEN 60 ELSE 0 END)")
	s.eventually("true", "SELECT last_value > 3 FROM met")
	s.eventually("WORK", "SELECT state FROM task WHERE id = $1", id)
	s.others()
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
}
