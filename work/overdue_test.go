package work

import "testing"

// TestOthersStartWhileManyAreOverdue: tasks whose active has passed are given up a few at a time.
func TestOthersStartWhileManyAreOverdue(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`WITH overdue AS (
		INSERT INTO task (input, plan, active) SELECT 'SELECT 1', now() - interval '1 day', '1 s' FROM generate_series(1, 10000)
	) INSERT INTO task (input, "group") VALUES ('SELECT 1', 'other')`)
	s.eventually("10000", "SELECT count(*) FROM task WHERE state = 'GONE'")
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if before := s.get(`SELECT count(*) FROM task AS gone, task AS other WHERE gone.state = 'GONE' AND other."group" = 'other' AND gone.stop < other.start`); before == "10000" {
		t.Error("another's task has waited until all that are overdue were given up")
	}
}
