package work

import (
	"testing"

	"pgtaskd/exec/traits"
	"pgtaskd/work/run"
)

// TestMarksCutOff: the connection breaks in the middle of the marks. Marks that were answered are
// not asked for again, the others once.
func TestMarksCutOff(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec(`CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.data = 'odd' THEN RAISE 'not this one'; END IF;
		IF NEW.data = 'cut' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
		RETURN NEW;
	END$$; CREATE TRIGGER odd BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'WORK') EXECUTE FUNCTION odd()`)
	answers := map[string]chan run.Answer{}
	for _, data := range []string{"locked", "marked", "odd", "cut"} {
		id := s.add("input, data", "VACUUM", data)
		one := &run.Task{Row: run.Row{ID: id, Version: s.version(id)}, Traits: &traits.Traits{}}
		answers[data] = make(chan run.Answer, 2)
		l.marks.Ask(one, run.Marking{PID: 1}, answers[data])
	}
	defer s.lock(1, "FOR UPDATE")()
	// On a busy machine a turn may end before that.
	s.until("the connection is lost", func() bool { return l.marks.Step(t.Context()) != nil })
	if !l.marks.Asked() || len(answers["cut"]) > 0 {
		t.Error("the one in whose mark the connection broke is not open")
	}
	l.marks.Decline()
	for data, answer := range answers {
		if len(answer) != 1 {
			t.Errorf("%s: answered %d times", data, len(answer))
			continue
		}
		if a := <-answer; a.OK != (data == "marked") || (a.Refused != nil) != (data == "odd") {
			t.Errorf("%s: %v", data, a)
		}
	}
}
