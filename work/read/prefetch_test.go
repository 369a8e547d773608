package read

import (
	"testing"
	"time"
)

// TestManyThatWereDeletedKeepNobodyWaiting: the leader does not look for deleted tasks one by one.
func TestManyThatWereDeletedKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec("SET session_replication_role = replica")
	s.Exec(`INSERT INTO task (input, "group", priority) SELECT '', i % 1000, 10 FROM generate_series(1, 20000) AS i`)
	s.does(s.scan.Begin)
	s.scan.looks.full, s.scan.looks.took = time.Now().Add(-2*time.Second), time.Hour
	s.Exec("DELETE FROM task")
	other := s.Add("input", "")
	for range 60 {
		s.does(s.prefetch.Step)
		s.does(s.scan.Step)
		if s.scan.Tasks[other] != nil {
			return
		}
	}
	t.Errorf("another one is not read; %d are known to be due", s.scan.listed())
}
