package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestKeyTaken: a task returns to PLAN, or repeats itself, while another task with its key waits.
func TestKeyTaken(t *testing.T) {
	t.Parallel()
	for name, c := range someOf(map[string]struct{ column, value, input, want string }{
		"cut off":  {"retry", "0", "SELECT pg_sleep(60)", "GONE"},
		"retry":    {"retry", "3", "SELECT pg_sleep(0.4); SELECT 1/0", "GONE"},
		"repeat":   {"repeat", "1 day", "SELECT pg_sleep(0.4)", "DONE"},
		"failing":  {"repeat", "1 day", "SELECT pg_sleep(0.4); SELECT 1/0", "FAIL"},
		"repeated": {"repeat", "1 day", "CREATE TABLE made (); SELECT pg_sleep(0.4)", "DONE"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			var odd int64
			if err := s.conn.QueryRow(t.Context(), `INSERT INTO task (input, "group", key, `+c.column+`) VALUES ($1, 'a', 'k', '`+c.value+`') RETURNING id`,
				c.input).Scan(&odd); err != nil {
				t.Fatal(err)
			}
			s.becomes(odd, "WORK")
			s.add("input, key, plan", "SELECT 2", "k", "infinity")
			if name == "cut off" {
				s.exec("UPDATE task SET pid = 1 WHERE id = $1", odd)
				s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
			}
			s.quiet()
			s.others()
			s.becomes(odd, c.want)
			s.others()
			if n := s.get("SELECT count(*) FROM pg_class WHERE relname = 'made'"); name == "repeated" && n != "1" {
				t.Error("the effects of a task that is DONE are lost")
			}
		})
	}
}

// waitsForKeys lets jobs run to their ends while other transactions have inserted the jobs' keys
// and do not commit. It returns the names of these transactions in messages.
func (s *stage) waitsForKeys(ids []int64, way string) (called []string, end func(string)) {
	s.t.Helper()
	var sqls []func(string)
	for i, id := range ids {
		s.becomes(id, "WORK")
		conn := s.connect()
		insert := fmt.Sprintf(`BEGIN; INSERT INTO task (input, key, plan, "group") VALUES ('', 'job%d', now() + '1 day', 'zz')`, i)
		if way != "prepared" {
			s.on(conn, insert)
			called = append(called, fmt.Sprintf(`pid %d of role postgres`, conn.PgConn().PID()))
			sqls = append(sqls, func(sql string) { s.on(conn, sql) })
			continue
		}
		gid := fmt.Sprintf("%s %d", s.target.Connect["dbname"], i)
		s.on(conn, insert+"; PREPARE TRANSACTION '"+gid+"'")
		called = append(called, fmt.Sprintf(`ROLLBACK PREPARED '%s'`, gid))
		sqls = append(sqls, func(sql string) { s.on(conn, sql+" PREPARED '"+gid+"'") })
	}
	return called, func(sql string) {
		s.t.Helper()
		for _, one := range sqls {
			one(sql)
		}
	}
}

// TestAKeyThatIsNotCommitted: it holds up only the end of the job with that key. Other tasks start
// at once, and the log names the session that keeps the transaction open. When the transaction
// ends, the job is DONE, and its repetition waits or is superseded.
func TestAKeyThatIsNotCommitted(t *testing.T) {
	t.Parallel()
	for way, ends := range someOf(map[string]struct{ sql, follows string }{
		"open":     {"ROLLBACK", "PLAN"},
		"prepared": {"COMMIT", "GONE"},
	}) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			var ids []int64
			for i := range 4 {
				ids = append(ids, s.add(`"group", key, repeat, input, delete`, fmt.Sprint("j", i), fmt.Sprint("job", i), time.Hour, "SELECT pg_sleep(1)", false))
			}
			called, end := s.waitsForKeys(ids, way)
			slowest := time.Duration(0)
			others := func() {
				began := time.Now()
				s.becomes(s.add(`"group", input`, "others", "SELECT 1"), "DONE")
				slowest = max(slowest, time.Since(began))
			}
			s.until("the log to name one", func() bool {
				others()
				for line := range strings.Lines(s.logged()) {
					for i := range called {
						if strings.Contains(line, called[i]) && strings.Contains(line, `"key":"job`) && strings.Contains(line, `"warn"`) {
							return true
						}
					}
				}
				return false
			})
			for range 20 {
				others()
			}
			if slowest > servertest.Limit(time.Second) {
				t.Errorf("another task took %s", slowest)
			}
			if said := strings.Count(s.logged(), "keeps a task's row from being changed"); said != 1 {
				t.Errorf("it is said %d times", said)
			}
			if s.leads() > 1 {
				t.Error("led again")
			}
			end(ends.sql)
			for _, id := range ids {
				s.becomes(id, "DONE")
				if state := s.get("SELECT string_agg(state::text, ' ') FROM task WHERE parent = $1", id); state != ends.follows {
					t.Error("its repetition is ", state)
				}
			}
		})
	}
}
