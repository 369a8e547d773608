package work

import "testing"

// TestWhatLacksAPartitionHoldsNoPlace, however much its end holds: others go on, and all that waits is
// written when there is a partition.
func TestWhatLacksAPartitionHoldsNoPlace(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 4 })
	s.exec(withoutChildren)
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task ("group", repeat, input) SELECT 'g' || i, '1 day', 'SELECT repeat(''x'', 6000000); SELECT 1/0' FROM generate_series(1, 8) AS i`)
	s.says("has no partition for what follows")
	s.others()
	s.exec(partitionOfChildren)
	s.eventually("8 8", "SELECT count(*) FILTER (WHERE state = 'FAIL') || ' ' || count(next) FROM task WHERE repeat > '0' AND parent IS NULL")
}
