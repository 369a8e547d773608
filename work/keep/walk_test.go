package keep

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/work/schedule"
	"pgtaskd/work/target"
)

// walked is a table with a Walk.
type walked struct {
	*table
	*Walk
	live *target.Live
}

// weekly makes a table with a retention of a week for DONE, FAIL and GONE.
func weekly(t *testing.T, ddl string) *walked {
	t.Helper()
	week := schedule.Interval{Days: 7}
	live := &target.Live{Keep: target.Keep{"DONE": week, "FAIL": week, "GONE": week}}
	s := &walked{table: tableOf(t, ddl), live: live}
	s.Walk = &Walk{Control: s.control, Changes: s.changes, Log: s.log, Live: &atomic.Pointer[target.Live]{}}
	s.Live.Store(live)
	return s
}

// goes makes one whole walk.
func (s *walked) goes() {
	s.T.Helper()
	for range 10_000 {
		s.next = time.Time{}
		if err := s.Step(s.T.Context()); err != nil {
			s.T.Fatal(err)
		}
		if s.pages == 0 {
			return
		}
	}
	s.T.Fatal("the walk does not end")
}

// history inserts a task that has ended, and returns its id. age is an interval, or NULL.
func (s *walked) history(state, age, columns, values string) string {
	s.T.Helper()
	if columns != "" {
		columns, values = ", "+columns, ", "+values
	}
	return s.inserted(fmt.Sprintf("INSERT INTO task (input, state, start, stop%s) VALUES ('SELECT 1', '%s', now(), now() - (%s)::interval%s)", columns, state, age, values))
}

// inserted runs an INSERT, and returns the id of the new task.
func (s *walked) inserted(sql string) (id string) {
	s.T.Helper()
	if err := s.Conn.QueryRow(s.T.Context(), sql+" RETURNING id::text", pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
		s.T.Fatal(sql, ": ", err)
	}
	return id
}

// left returns the ids of all rows.
func (s *walked) left() string {
	s.T.Helper()
	return s.Get("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM task")
}

func (s *walked) leaves(want ...string) {
	s.T.Helper()
	if got := s.left(); got != strings.Join(want, " ") {
		s.T.Errorf("tasks %s are left, not %s", got, strings.Join(want, " "))
	}
}

// TestOldTasksAreDeleted: the time of the end and the state decide.
func TestOldTasksAreDeleted(t *testing.T) {
	t.Parallel()
	s := weekly(t, "")
	var kept []string
	keep := func(id string) { kept = append(kept, id) }
	for _, state := range []string{"DONE", "FAIL", "GONE"} {
		s.history(state, "'8 days'", "", "")
		keep(s.history(state, "'6 days'", "", ""))
		keep(s.history(state, "NULL", "", "")) // somebody has set the state without stop
	}
	keep(s.history("STOP", "'8 days'", "", "")) // STOP is kept for ever
	keep(s.history("STOP", "NULL", "", ""))
	keep(s.history("PLAN", "'8 days'", "plan", "'2000-01-01'"))
	s.Exec("SET session_replication_role = replica") // triggers refuse to INSERT a task with WORK
	keep(s.history("WORK", "'8 days'", "plan", "'2000-01-01'"))
	s.Exec("RESET session_replication_role")
	s.goes()
	s.leaves(kept...)

	s.live.Keep = target.Keep{"STOP": {Months: 1}}
	old := s.history("STOP", "'32 days'", "", "")
	s.goes()
	s.leaves(kept...)
	if strings.Contains(s.left(), old) {
		t.Error("what was stopped a month ago is kept")
	}
}

// TestTheLastOfAChainIsKept: the last row of a chain that has ended, to start the chain again; and
// the last run of a chain that goes on.
func TestTheLastOfAChainIsKept(t *testing.T) {
	t.Parallel()
	s := weekly(t, "")
	s.Exec("SET session_replication_role = replica")
	chains := map[string]struct {
		rows [][2]string // state, further columns; row n has the id #n
		want string
	}{
		"that goes on":                   {[][2]string{{"DONE", "next = #2"}, {"FAIL", "next = #3"}, {"PLAN", ""}}, "#2 #3"},
		"that is paused":                 {[][2]string{{"FAIL", "next = #2"}, {"FAIL", "next = #3"}, {"STOP", ""}}, "#2 #3"},
		"that runs":                      {[][2]string{{"DONE", "next = #2"}, {"WORK", ""}}, "#1 #2"},
		"that has ended":                 {[][2]string{{"DONE", "next = #2"}, {"DONE", "next = #3"}, {"GONE", ""}}, "#3"},
		"that was superseded":            {[][2]string{{"DONE", "next = #2"}, {"GONE", "key = 'a'"}, {"PLAN", "repeat = '0', key = 'a'"}}, "#2 #3"},
		"of cron":                        {[][2]string{{"DONE", "repeat = '0', cron = '@daily', next = #2"}, {"FAIL", "repeat = '0', cron = '@daily'"}}, "#2"},
		"of which somebody took the end": {[][2]string{{"DONE", "next = #2"}, {"DONE", "repeat = '0', origin = now()"}, {"DONE", "repeat = '0'"}}, "#2"},
		"whose next row had no output":   {[][2]string{{"FAIL", "next = #9"}, {"DONE", "next = #3"}, {"PLAN", ""}}, "#2 #3"},
		"with a key, likewise":           {[][2]string{{"FAIL", "next = #9, key = 'b', input = 'before'"}, {"PLAN", "key = 'b'"}}, "#2"},
		"whose waiting row was deleted":  {[][2]string{{"FAIL", "next = #2"}, {"FAIL", "next = #9"}}, "#2"},
	}
	want, left, base := map[string]string{}, map[string]string{}, 0
	for name, c := range chains {
		base += 10
		number := func(text string) string { return strings.ReplaceAll(text, "#", fmt.Sprint(base/10)) }
		for i, row := range c.rows {
			stop := "'2020-01-01'"
			if row[0] == "PLAN" || row[0] == "WORK" || row[0] == "STOP" {
				stop = "NULL"
			}
			s.Exec(fmt.Sprintf(`INSERT INTO task (id, input, repeat, "group", state, stop) VALUES (%s, 'SELECT 1', '1 day', '%s', '%s', %s)`, number(fmt.Sprint("#", i+1)), name, row[0], stop))
			if row[1] != "" {
				s.Exec("UPDATE task SET " + number(row[1]) + " WHERE id = " + number(fmt.Sprint("#", i+1)))
			}
		}
		want[name] = number(c.want)
	}
	s.goes()
	for name := range chains {
		left[name] = s.Get(`SELECT string_agg(id::text, ' ' ORDER BY id) FROM task WHERE "group" = $1`, name)
		if left[name] != want[name] {
			t.Errorf("of a chain %s %s are left, not %s", name, left[name], want[name])
		}
	}
}

// TestWhatWaitingTasksNameIsKept: tasks in the after of a waiting task stay until it waits no more.
func TestWhatWaitingTasksNameIsKept(t *testing.T) {
	t.Parallel()
	s := weekly(t, "")
	first, second, third := s.history("DONE", "'8 days'", "", ""), s.history("FAIL", "'8 days'", "", ""), s.history("DONE", "'8 days'", "", "")
	s.Exec("SET session_replication_role = replica") // no trigger checks who may name a task
	waits := s.inserted("INSERT INTO task (input, plan, after) VALUES ('SELECT 1', 'infinity', ARRAY[" + first + "]::int8[])")
	paused := s.inserted("INSERT INTO task (input, state, after) VALUES ('SELECT 1', 'STOP', ARRAY[" + third + "," + second + "]::int8[])")
	s.goes()
	s.leaves(first, second, third, waits, paused)
	s.Exec("UPDATE task SET state = 'GONE', stop = now() WHERE id = " + paused)
	s.goes()
	s.leaves(first, waits, paused)
}

// TestRowsThatTheTableKeeps: the other rows are deleted, and each reason is logged once.
func TestRowsThatTheTableKeeps(t *testing.T) {
	t.Parallel()
	s := weekly(t, "")
	s.Exec("CREATE TABLE refers (id int8 REFERENCES task); CREATE TABLE later (id int8 REFERENCES task DEFERRABLE INITIALLY DEFERRED)")
	s.Exec(`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF OLD.data = 'raise' THEN RAISE 'not this one'; ELSIF OLD.data = 'null' THEN RETURN NULL; ELSIF OLD.data = 'slow' THEN PERFORM pg_sleep(30); END IF; RETURN OLD; END$$;
		CREATE TRIGGER keep BEFORE DELETE ON task FOR EACH ROW EXECUTE FUNCTION keep()`)
	var kept []string
	for i := range 3 {
		for _, data := range []string{"raise", "null", "refers", "later", "slow", ""} {
			if data == "slow" && i > 0 {
				continue
			}
			id := s.history("DONE", "'8 days'", "data", "'"+data+"'")
			switch data {
			case "":
				continue
			case "refers", "later":
				s.Exec("INSERT INTO " + data + " VALUES (" + id + ")")
			}
			kept = append(kept, id)
		}
	}
	locked := s.history("DONE", "'8 days'", "", "")
	id, err := strconv.ParseInt(locked, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	locks := servertest.Connect(t, s.Conn.Config().ConnString())
	servertest.Exec(t, locks, "BEGIN")
	servertest.Exec(t, locks, "SELECT FROM task WHERE id = $1 FOR KEY SHARE", id)
	s.goes()
	s.leaves(append(kept, locked)...)
	servertest.Exec(t, locks, "ROLLBACK")
	s.goes()
	s.leaves(kept...)
	for word, times := range map[string]int{"not this one": 1, "a trigger has kept the row": 1, "refers_id_fkey": 1, "later_id_fkey": 1, "statement timeout": 1} {
		if n := strings.Count(s.logged.String(), word); n != times {
			t.Errorf("%q is logged %d times:\n%s", word, n, s.logged.String())
		}
	}
}

// parts makes a task table with partitions.
const parts = "CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan); " +
	"CREATE TABLE p1 PARTITION OF task FOR VALUES FROM ('2020-01-01') TO ('2021-01-01'); CREATE TABLE p2 PARTITION OF task FOR VALUES FROM ('2021-01-01') TO ('2022-01-01'); " +
	"CREATE TABLE p3 PARTITION OF task FOR VALUES FROM ('2022-01-01') TO ('2023-01-01'); CREATE TABLE p4 PARTITION OF task DEFAULT"

// TestOldTasksOfManyPages: all old tasks are deleted, also in partitions and between newer ones.
func TestOldTasksOfManyPages(t *testing.T) {
	t.Parallel()
	for name, ddl := range map[string]string{"one table": "", "partitions": parts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := weekly(t, ddl)
			s.Exec("SET session_replication_role = replica")
			s.Exec(`INSERT INTO task (input, output, plan, state, start, stop)
				SELECT 'SELECT 1', repeat('x', 500), CASE i % 3 WHEN 0 THEN '2020-06-01' WHEN 1 THEN '2021-06-01' ELSE now() END, 'DONE', now(), now() - CASE WHEN i % 2 = 0 THEN interval '8 days' ELSE '1 day' END
				FROM generate_series(1, 4000) AS i`)
			s.goes()
			if got := s.Get("SELECT count(*) FILTER (WHERE stop < now() - interval '7 days') || ' ' || count(*) FROM task"); got != "0 2000" {
				t.Errorf("old tasks, and all: %s", got)
			}
			if n := len(s.refused); n > 0 {
				t.Errorf("%d were refused", n)
			}
		})
	}
}

// TestDeletingTakesASixthOfTheTime: the rest is at most five times as long as the step.
func TestDeletingTakesASixthOfTheTime(t *testing.T) {
	t.Parallel()
	s := weekly(t, "")
	s.Exec("INSERT INTO task (input, state, start, stop) SELECT 'SELECT 1', 'DONE', now(), now() - interval '8 days' FROM generate_series(1, 5000)")
	for s.Get("SELECT count(*) FROM task") != "0" {
		s.next = time.Time{}
		began, before := time.Now(), len(s.found)
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := time.Now()
		rest, most := s.next.Sub(ended), max(20*time.Millisecond, 5*ended.Sub(began))
		if deleted := before - len(s.found); deleted > 0 && s.pages > 0 && rest > most {
			t.Errorf("after %d rows in %v it rests for %v", deleted, ended.Sub(began), rest)
		}
	}
}

// TestAnotherRowOfTheSameIDLetsNoLastRunBeDeleted: next names an id that two rows have. The chain
// has ended only when both have.
func TestAnotherRowOfTheSameIDLetsNoLastRunBeDeleted(t *testing.T) {
	t.Parallel()
	s := weekly(t, parts)
	first := s.history("DONE", "'8 days'", `plan, repeat, data, next`, "'2020-01-01', '1 day', 'last', 1000")
	s.Exec("INSERT INTO task (id, input, repeat, plan, parent) VALUES (1000, 'SELECT 1', '1 day', 'infinity', $1::text::int8)", first)
	s.Exec("INSERT INTO task (id, input, plan, state, stop) VALUES (1000, 'SELECT 1', '2020-01-01', 'DONE', now() - interval '1 s')")
	s.goes()
	s.leaves(first, "1000", "1000")
}
