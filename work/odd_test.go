package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/exec/fault"
)

// Tests of what one row must not do to the others: no value of it, and nothing that its table's
// triggers say of it, stops a target.

func TestOddAttempt(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.add("input, attempt", "SELECT 1", 2147483647)
	s.others()
}

// TestOddInterval: what the triggers refuse may have come past them, or have been there before
// them.
func TestOddInterval(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	for _, column := range []string{"live", "timeout", "active", "repeat", "backoff"} {
		s.add("input, "+column, "SELECT 1/0", "178000000 years")
	}
	s.exec("RESET session_replication_role")
	s.others()
}

func TestOddCounters(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add("input, interrupted, retry, runs", "SELECT 1/0", -2147483648, 2147483647, `{"not": "an array"}`)
	s.eventually("true", "SELECT attempt > 0 FROM task WHERE id = $1", odd)
	s.becomes(odd, "PLAN", "FAIL")
	s.others()
}

func TestLongTimeout(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, timeout", "SELECT 1", "300 years")
	s.becomes(id, "DONE")
}

func TestMarkRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	odd := s.add(`input, data`, "SELECT pg_sleep(0.5)", "odd")
	s.until("refused", func() bool { return strings.Contains(s.logged(), "refuses the mark") })
	s.others()
	s.becomes(odd, "DONE", "FAIL")
	s.others()
}

// TestFirstMarkRefused: what must be marked before it starts, and can't be, FAILs.
func TestFirstMarkRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'WORK'")
	odd := s.add(`input, data`, "VACUUM task", "odd")
	s.others()
	s.becomes(odd, "FAIL")
}

// TestFinishRefused: what refuses the end undoes nothing, and nothing runs twice.
func TestFinishRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int4)")
	s.refuse("UPDATE", "NEW.state = 'DONE'")
	odd := s.add(`input, data`, "INSERT INTO effect VALUES (1) RETURNING 'done'", "odd")
	s.says("row left unchanged", "not this one")
	if row := s.row(odd, "state, xact IS NOT NULL AS prepared, output, attempt, (SELECT count(*) FROM effect) AS effects"); row != `{"state":"WORK","prepared":true,"output":"done","attempt":1,"effects":1}` {
		t.Error(row)
	}
	s.others()
	s.exec("DROP TRIGGER refuse ON task")
	s.drain()
	s.serve() // which tries it again
	s.becomes(odd, "DONE")
	if row := s.row(odd, "output, attempt, (SELECT count(*) FROM effect) AS effects"); row != `{"output":"done","attempt":1,"effects":1}` {
		t.Error(row)
	}
}

func TestEveryEndRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state NOT IN ('PLAN', 'TAKE', 'WORK')")
	s.add(`input, data`, "SELECT 1", "odd")
	s.add(`input, data`, "SELECT 1/0", "odd")
	s.others()
	s.others()
}

func TestPlanRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'PLAN'")
	odd := s.add(`input, data, "group"`, "SELECT pg_sleep(60)", "odd", "a")
	s.becomes(odd, "WORK")
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("UPDATE task SET pid = 1, state = 'WORK' WHERE id = $1", odd) // as if an old leader had left it
	s.exec("RESET session_replication_role; RESET application_name")
	s.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
	s.quiet()
	s.others()
	s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK') AND data IS NULL")
	s.others()
}

// TestRepetitionRefused: the run has ended as it has, and its row says that its series has.
func TestRepetitionRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int4)")
	s.refuse("INSERT", "NEW.parent IS NOT NULL")
	done := s.add(`input, repeat, data`, "SELECT 1", "1 day", "odd")
	wrote := s.add(`input, repeat, data`, "INSERT INTO effect VALUES (1)", "1 day", "odd")
	fail := s.add(`input, repeat, data`, "SELECT 1/0", "1 day", "odd")
	s.exec("INSERT INTO task (input, repeat, data, plan) VALUES ('SELECT 1', '1 day', 'odd', now() - interval '1 month')")
	s.others()
	for id, state := range map[int64]string{done: "DONE", wrote: "DONE", fail: "FAIL"} {
		s.becomes(id, state)
		if said := s.get("SELECT error FROM task WHERE id = $1", id); !strings.Contains(said, "not this one") || strings.Contains(said, "division by zero") != (id == fail) {
			t.Error(said)
		}
		s.says(`"level":"error"`, "its series has ended", fmt.Sprintf(`"id":%d`, id))
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "1" {
		t.Error("effects: ", n)
	}
	s.others()
}

func TestExpireRefused(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.refuse("UPDATE", "NEW.state = 'GONE'")
	s.exec("INSERT INTO task (input, data, plan) VALUES ('SELECT 1', 'odd', now() - interval '1 day')")
	s.others()
	s.others()
}

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

// TestTriggerWithPath: a trigger of the user's may name what is in its path, as it does when they
// update the row themselves.
func TestTriggerWithPath(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE audit (id int8, state text)")
	s.exec("CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO audit VALUES (NEW.id, NEW.state); RETURN NULL; END$$")
	s.exec("CREATE TRIGGER audited AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION audited()")
	s.others()
}

// TestUnchangeable: rows that a trigger or policy lets be seen and silently not be changed are not
// looked at without end.
func TestUnchangeable(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION silent() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.data = 'odd' THEN RETURN NULL; END IF; RETURN NEW; END$$")
	s.exec("CREATE TRIGGER silent BEFORE UPDATE ON task FOR EACH ROW EXECUTE FUNCTION silent()")
	s.add("input, data", "SELECT 1", "odd")
	s.others()
	s.calm()
}

// TestOddBase: base is anybody's to write who may insert it, and what replication brings passes no
// trigger.
func TestOddBase(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	for _, base := range []string{"infinity", "-infinity", "294276-12-31", "4714-11-24 BC"} {
		s.add("input, base", "SELECT 1", base)
		s.add("input, base, repeat", "SELECT 1", base, "1 hour")
	}
	s.exec("RESET session_replication_role")
	s.others()
	if _, err := s.conn.Exec(t.Context(), "INSERT INTO task (input, base) VALUES ('', 'infinity')"); !fault.Has(err, "23514") {
		t.Error("base may be infinity: ", err)
	}
}

// TestRowsWithNullStopNobody: they were there before pgtaskd, whose checks refuse only new ones.
func TestRowsWithNullStopNobody(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	columns := map[string]string{
		"input": "text", "repeat": "interval", "count": "int4", "max": "int4", "drift": "bool", "header": "bool", "save": "bool", "string": "bool", "rerun": "bool",
		"delimiter": `"char"`, "escape": `"char"`, "quote": `"char"`, `"group"`: "text", `"null"`: "text", "priority": "int4", "skipped": "int4", "overlap": "bool",
		"timeout": "interval", `"delete"`: "bool", "retry": "int4", "active": "interval", "live": "interval", "failures": "int4", "backoff": "interval", "catchup": "int4",
	}
	for column, kind := range columns {
		s.exec("CREATE TABLE IF NOT EXISTS task (id bigserial PRIMARY KEY, input text)")
		s.exec("ALTER TABLE task ADD COLUMN IF NOT EXISTS " + column + " " + kind)
	}
	s.exec("INSERT INTO task (input) VALUES ('SELECT 1')") // NULL in all
	for column := range columns {
		for other := range columns {
			if other != column {
				s.exec("ALTER TABLE task ALTER " + other + " SET DEFAULT " + map[bool]string{true: "'1'", false: "'f'"}[columns[other] != "bool"])
			}
		}
		s.exec("ALTER TABLE task ALTER " + column + " DROP DEFAULT; ALTER TABLE task ALTER input SET DEFAULT 'SELECT 1'")
		s.exec("INSERT INTO task (" + column + ") VALUES (NULL)")
	}
	s.serve()
	s.settled()
	s.others()
	s.says("the row has NULL where a value is needed (save)", `"id":`)
	if strings.Contains(s.logged(), "target failed") {
		t.Error(s.logged())
	}
}
