package work

import (
	"slices"
	"testing"

	"pgtaskd/exec/traits"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
)

// TestMarksCutOff: when the connection breaks in the middle of the marks, those who have been
// answered are not asked for again, and the others once.
func TestMarksCutOff(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	s.exec(`CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.data = 'odd' THEN RAISE 'not this one'; END IF;
		IF NEW.data = 'cut' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
		RETURN NEW;
	END$$; CREATE TRIGGER odd BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'WORK') EXECUTE FUNCTION odd()`)
	for _, data := range []string{"locked", "marked", "odd", "cut"} {
		id := s.add("input, data", "VACUUM", data)
		one := &run.Task{Row: run.Row{ID: id, Version: s.version(id)}, Traits: &traits.Traits{}}
		l.asks = append(l.asks, ask{task: &inflight.Task{Task: one}, pid: 1, answer: make(chan answer, 1)})
	}
	asked := slices.Clone(l.asks)
	defer s.lock(asked[0].task.Row.ID, "FOR UPDATE")()
	s.until("the connection is lost", func() bool { return l.answer(t.Context()) != nil }) // a busy machine ends a turn before
	var answered, open []int64
	for _, a := range asked {
		if len(a.answer) > 0 {
			answered = append(answered, a.task.Row.ID)
		}
	}
	for _, a := range l.asks {
		open = append(open, a.task.Row.ID)
	}
	slices.Sort(open)
	if !slices.Equal(answered, []int64{1, 2, 3}) || !slices.Equal(open, []int64{4}) {
		t.Errorf("answered %v, open %v", answered, open)
	}
}
