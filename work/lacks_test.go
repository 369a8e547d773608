package work

import (
	"fmt"
	"testing"
)

// Tests of tasks of which the table never has a partition for what follows, while others go on.

// TestWhatLacksAPartitionHoldsNoPlace, however much its end holds: what finds no room ends without
// what follows, with the error that names the table.
func TestWhatLacksAPartitionHoldsNoPlace(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 4 })
	s.exec(withoutChildren)
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task ("group", repeat, input) SELECT 'g' || i, '1 day', 'SELECT repeat(''x'', 6000000); SELECT 1/0' FROM generate_series(1, 8) AS i`)
	s.eventually("6", "SELECT count(*) FROM task WHERE state = 'FAIL' AND error LIKE '%division by zero%no partition of relation \"task\"%'")
	s.others()
	s.exec(partitionOfChildren)
	s.eventually("8 2", "SELECT count(*) FILTER (WHERE state = 'FAIL') || ' ' || count(next) FROM task WHERE repeat > '0' AND parent IS NULL")
	s.exec("UPDATE task SET state = 'PLAN' WHERE state = 'FAIL' AND next IS NULL AND repeat > '0'")
	s.eventually("8", "SELECT count(next) FROM task WHERE repeat > '0' AND parent IS NULL")
}

// TestFewWaitForAPartition: others end at once.
func TestFewWaitForAPartition(t *testing.T) {
	t.Parallel()
	const most, all = 3, 8
	for name, values := range someOf(map[string]string{
		"what is not run in time":     "'SELECT 1', '1 us', false",
		"ends after the transaction":  "'SELECT 1/0', '1 hour', false",
		"ends in the transaction":     "'SELECT 1', '1 hour', false",
		"what repeats when it starts": "'SELECT 1', '1 hour', true",
		"what commits before its end": "'BEGIN; SELECT 1; COMMIT', '1 hour', false",
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			s.exec(withoutChildren)
			s.installed()
			s.beginWith(func(_ int, l *loop) { l.partlessMost = most })
			s.settled()
			s.exec(fmt.Sprintf(`INSERT INTO task ("group", repeat, delete, plan, input, active, overlap)
				SELECT 'g' || i, '1 day', false, now() - interval '1 s', %s FROM generate_series(1, %d) AS i`, values, all))
			const ended = "SELECT count(*) FROM task WHERE parent IS NULL AND repeat > '0' AND state IN ('DONE', 'FAIL', 'GONE')"
			s.eventually(fmt.Sprint(all-most), ended+" AND error LIKE '%no partition of relation%'")
			s.others()
			s.exec(partitionOfChildren)
			s.eventually(fmt.Sprint(all), ended)
			if n := s.get("SELECT count(next) FROM task WHERE parent IS NULL"); n != fmt.Sprint(most) {
				t.Errorf("%s tasks are followed", n)
			}
		})
	}
}
