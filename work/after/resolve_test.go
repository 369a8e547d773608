package after

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongSuccessorsKeepNobodyWaiting: successors for which there was no time are tried again.
func TestLongSuccessorsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := staged(t)
	never := s.Add("input, plan", "SELECT 1", "infinity")
	s.Exec("INSERT INTO task (input, after) SELECT '', array_fill($1::int8, ARRAY[CASE WHEN i % 2 = 0 THEN 10000 ELSE 1 END]) FROM generate_series(1, 20) AS i", never)
	for id := range int64(20) {
		s.successors.Add(never + id + 1)
	}
	for len(s.successors.newcomers) > 0 {
		if err := s.successors.meet(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Get("SELECT count(*) FROM task WHERE awaits = $1", never); got != "20" {
		t.Error(got)
	}
}

// TestAfterIsChangedWhileItIsLookedAt: a task is not given up for a task that it does not name any
// more. A trigger changes the row while the leader resolves it and another one.
func TestAfterIsChangedWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := staged(t)
	never, fails := s.Add("input, plan", "SELECT 1", "infinity"), s.Add("input, state, stop", "SELECT 1/0", "FAIL", "2020-01-01")
	s.Exec(fmt.Sprintf(`CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN UPDATE public.task SET after = '{%d}' WHERE data = 'changed'; RETURN NEW; END $$`, never))
	s.Exec("CREATE TRIGGER change BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.data = 'other' AND NEW.awaits IS NOT NULL) EXECUTE FUNCTION change()")
	both := []int64{s.Add("input, data, after", "SELECT 1", "other", []int64{never}), s.Add("input, data, after", "SELECT 1", "changed", []int64{fails})}
	resolve := func() (state string) {
		t.Helper()
		for late := both; len(late) > 0; { // on a slow machine
			s.Exec("UPDATE task SET after = $2 WHERE id = $1 AND state = 'PLAN'", both[1], []int64{fails})
			var err error
			if _, late, err = s.successors.resolve(t.Context(), both); err != nil {
				t.Fatal(err)
			}
		}
		return s.Get("SELECT concat_ws(' ', state, after, error) FROM task WHERE id = $1", both[1])
	}
	if got, want := resolve(), fmt.Sprintf("PLAN {%d}", never); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	s.Exec("DROP TRIGGER change ON task")
	if got := resolve(); !strings.HasPrefix(got, "GONE") {
		t.Error("where it is not changed: ", got)
	}
}
