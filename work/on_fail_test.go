package work

import "testing"

// TestOnFail: its task comes with the last FAIL or GONE, and not before.
func TestOnFail(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE cried (id bigint, data text)")
	const cry = "INSERT INTO cried SELECT current_setting('pg_task.parent')::bigint, current_setting('pg_task.data')"
	failed := s.add(`input, on_fail, "group", data, retry, backoff, max`, "SELECT 1/0", cry, "sad", "of it", 1, "1 ms", 3)
	wrote := s.add("input, on_fail", "CREATE TABLE made (); SELECT 1/0", cry)
	late := s.add("input, on_fail, plan", "SELECT 1", cry, "2020-01-01")
	bad := s.add("input, on_fail, timeout", "SELECT pg_sleep(60)", cry, "10 ms")
	well := s.add("input, on_fail", "SELECT 1", cry)
	stopped := s.add("input, on_fail", "SELECT pg_sleep(60)", cry)
	s.becomes(stopped, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
	s.eventually("4", "SELECT count(*) FROM cried")
	s.becomes(well, "DONE")
	s.eventually("1", "SELECT count(*) FROM task WHERE id = $1 AND stop IS NOT NULL", stopped)
	if got := s.get("SELECT array_agg(id ORDER BY id)::text FROM cried"); got != s.get("SELECT ARRAY[$1, $2, $3, $4]::bigint[]::text", failed, wrote, late, bad) {
		t.Error(got)
	}
	if got := s.get(`SELECT format('%s %s %s %s', "group", data, max, retry) FROM task WHERE parent = $1`, failed); got != "sad of it 0 0" {
		t.Error(got)
	}
	if got := s.get("SELECT attempt FROM task WHERE id = $1", failed); got != "2" {
		t.Error("attempts", got)
	}
}

// TestOnFailThatIsRefused: the task still FAILs, and its row says why.
func TestOnFailThatIsRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("ALTER TABLE task ADD CONSTRAINT odd CHECK (input <> 'odd')")
	id := s.add("input, on_fail", "SELECT 1/0", "odd")
	s.becomes(id, "FAIL")
	if got := s.get("SELECT error LIKE '%odd%' FROM task WHERE id = $1", id); got != "true" {
		t.Error(s.get("SELECT error FROM task WHERE id = $1", id))
	}
}
