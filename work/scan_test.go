package work

import "testing"

// TestLooksStayCheap: what comes next is found without reading all that is to come, also by a statement that was planned when there was nothing.
func TestLooksStayCheap(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	for range 10 {
		if err := l.scan(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	s.exec("INSERT INTO task (input, plan) SELECT 'SELECT 1', statement_timestamp() + interval '1 day' FROM generate_series(1, 2000)")
	l.tell(t, "BEGIN")
	if err := l.scan(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	var read int
	if err := l.control.conn.QueryRow(t.Context(), "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = $1::regclass",
		"public.task").Scan(&read); err != nil || read > 10 {
		t.Error(read, err)
	}
	l.tell(t, "COMMIT")
	if l.look.next.IsZero() {
		t.Error("nothing is to come")
	}
}
