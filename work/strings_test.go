package work

import "testing"

// TestStringsWithBackslashes: if the database reads backslashes in strings as escapes, inputs do
// so, too. Our own statements keep their meaning.
func TestStringsWithBackslashes(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("ALTER DATABASE " + s.get("SELECT quote_ident(current_database())") + " SET standard_conforming_strings = off")
	s.conn = s.connect()
	s.serve()
	s.settled()
	for _, mode := range []string{"off", "on"} {
		s.exec("SET standard_conforming_strings = " + mode)
		// The notice has at most the server's warning about the input's own string.
		for input, want := range map[string]string{
			`SELECT length('a\\b')`:                   "3",
			`SET standard_conforming_strings = on`:    "SET",
			`SELECT length(E'a\\b')`:                  "3",
			`CREATE TEMP TABLE a (); SELECT '\'; --'`: "CREATE TABLE\n'; --",
		} {
			// The end of a repeating task is written together with its repetition.
			for _, repeat := range []string{"0", "1 day"} {
				id := s.add(`"group", input, repeat`, mode, input, repeat)
				s.becomes(id, "DONE", "FAIL")
				if got := s.get("SELECT output FROM task WHERE id = $1 AND coalesce(notice, '') NOT LIKE '%WARNING%WARNING%' AND (next IS NOT NULL) = (repeat > '0')", id); got != want {
					t.Errorf("%s: %s, want %s", input, s.row(id, "state, output, error, notice, next"), want)
				}
			}
		}
		cut := s.add(`"group", input`, mode, "SELECT pg_sleep(60)")
		s.becomes(cut, "WORK")
		s.exec("UPDATE task SET pid = 1 WHERE id = $1", cut) // as if an old leader had left it
		s.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name ^@ 'pg_task '`)
		s.eventually("true", "SELECT interrupted = 1 AND state = 'WORK' FROM task WHERE id = $1", cut)
		s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", cut)
		s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", cut)
	}
}
