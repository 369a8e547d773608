package work

import "testing"

// TestNoSecondRun: what leaves the transaction by itself and is not to be run again is not, though
// nothing but what we asked behind it has failed.
func TestNoSecondRun(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE SEQUENCE outside;
		CREATE FUNCTION forget() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$`)
	const input = "SELECT nextval('public.outside'), public.forget()"
	for rerun, want := range map[bool]string{true: "DONE 2", false: "FAIL 1"} {
		s.becomes(s.add("input", "CREATE TABLE IF NOT EXISTS effect (id int4)"), "DONE") // what we ask is prepared then
		s.exec("ALTER SEQUENCE outside RESTART")
		id := s.add("input, rerun", input, rerun)
		s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
		if got := s.state(id) + " " + s.get("SELECT last_value FROM outside"); got != want {
			t.Errorf("rerun %t: %s, want %s", rerun, got, want)
		}
	}
}
