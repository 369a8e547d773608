//go:build slow

package work

import (
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/work/run"
)

// TestALockedRowHoldsNoRoomForTexts: a task with long texts waits for the mark of its row, which
// somebody has locked. Meanwhile tasks with long texts of another target start soon. Then the task
// runs with its texts.
func TestALockedRowHoldsNoRoomForTexts(t *testing.T) {
	t.Parallel()
	s, other := prepared(t), play(t)
	s.installed()
	long := strings.Repeat("x", 8<<20-100)
	id := s.add("input, data, rerun", "SELECT length(current_setting('pg_task.data')) --"+long, long, false)
	release := s.lock(id, "FOR UPDATE")
	s.serve()
	s.says("keeps a task's row from being changed")
	for range 3 {
		other.becomes(other.add("input", "SELECT 1 --"+strings.Repeat("x", 9000)), "DONE")
	}
	if state := s.state(id); state != "PLAN" {
		t.Error(state)
	}
	release()
	s.becomes(id, "DONE")
	if row := s.row(id, "output, attempt"); row != `{"output":"8388508","attempt":1}` {
		t.Error(row)
	}
}

// TestALongTextThatChangesWithTheMark: the text from before the mark runs, as with a short text.
func TestALongTextThatChangesWithTheMark(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE ran (); CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.input := 'COMMIT --' || repeat('x', 9000); RETURN NEW; END$$;
		CREATE TRIGGER other BEFORE UPDATE ON task FOR EACH ROW WHEN (OLD.state = 'PLAN' AND NEW.state = 'WORK') EXECUTE FUNCTION other()`)
	id := s.add("input, rerun", "INSERT INTO ran DEFAULT VALUES --"+strings.Repeat("x", 9000), false)
	s.becomes(id, "DONE")
	if row := s.row(id, "output, (SELECT count(*) FROM ran) AS ran"); row != `{"output":"INSERT 0 1","ran":1}` {
		t.Error(row)
	}
	s.others()
}

// TestALockedTableIsNoFaultOfALongText: the task is not told that its text cannot be read.
func TestALockedTableIsNoFaultOfALongText(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	id := s.add("input", "SELECT 2 --"+strings.Repeat("x", 9000))
	tasks, err := l.leader.prefetch.Read(t.Context(), []int64{id})
	if err != nil || len(tasks) != 1 {
		t.Fatal(tasks, err)
	}
	s.exec("BEGIN; LOCK TABLE task")
	for _, which := range []run.Text{run.LongInput, run.LongData, run.LongNames} {
		answer := make(chan run.Answer, 1)
		go func() { answer <- l.inbox.Text(t.Context(), tasks[0], 0, which) }()
		<-l.inbox.Asked()
		l.inbox.Take()
		if err := l.inbox.Answer(t.Context()); fault.Of(err) != fault.Locked || !l.inbox.Waited() {
			t.Error(which, err)
		}
		l.inbox.Decline()
		if a := <-answer; a.OK {
			t.Error(which, a)
		}
	}
	s.exec("ROLLBACK")
}
