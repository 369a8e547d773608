//go:build slow

package work

import "testing"

// TestManyCronTasks: the leader plans all of many cron tasks that come at once.
func TestManyCronTasks(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("INSERT INTO task (input, cron) SELECT 'SELECT 1', '30 4 1 * *' FROM generate_series(1, 5000)")
	s.eventually("5000", "SELECT count(*) FROM task WHERE origin IS NULL AND plan > now()")
}
