//go:build slow

package attack

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// The memory that the program may use, in bytes.
const (
	atWork  = 400e6 // with 32 tasks at once
	waiting = 100e6 // with 1,000 waiting tasks
)

// stays checks the memory, and that the program lives.
func (p program) stays(t *testing.T, under float64) {
	t.Helper()
	select {
	case <-p.Done:
		t.Fatal("pgtaskd has ended")
	default:
	}
	if took := p.Peak(t); took > under {
		t.Errorf("it has taken %.0f MB, more than %.0f", took/1e6, under/1e6)
	} else {
		t.Logf("it has taken %.0f MB", took/1e6)
	}
}

// TestMemoryAtWork: tasks do everything that takes memory, at the same time. pgtaskd stays small,
// and serves a task in between.
func TestMemoryAtWork(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", object{"run": 40})
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	s.exec(s.safe, "GRANT INSERT (data, input) ON own.task TO $m; GRANT USAGE ON SCHEMA own TO $m; GRANT USAGE ON ALL SEQUENCES IN SCHEMA own TO $m")
	// One of the greatest size of each kind, and combinations that are worse.
	sizes := map[string]string{
		"value":   "SELECT repeat(''x'', %d000000)",
		"values":  "SELECT repeat(''x'', %d00000), repeat(''y'', %[1]d00000) FROM generate_series(1, 4)",
		"error":   "DO $f$ BEGIN RAISE EXCEPTION USING MESSAGE = repeat(''x'', %d00000), DETAIL = repeat(''y'', %[1]d00000); END $f$",
		"notice":  "DO $f$ BEGIN RAISE NOTICE ''%%'', repeat(''x'', %d00000); END $f$",
		"copy":    "COPY (SELECT repeat(''x'', %d00000)) TO STDOUT",
		"notify":  "SELECT set_config(''application_name'', repeat(''x'', %d0000), false); LISTEN x; SELECT pg_notify(''x'', repeat(''y'', 7999)) FROM generate_series(1, %[1]d)",
		"columns": "SELECT 1 AS \"%d\" FROM generate_series(1, 100000)",
	}
	var values []string
	for kind, sql := range sizes {
		for i, n := range []int{300, 60, 60, 60} {
			if i == 0 && kind != "value" && kind != "error" {
				n = 100
			}
			values = append(values, fmt.Sprintf(`('%s %d', '%s', 'x')`, kind, i, fmt.Sprintf(sql, n)))
		}
	}
	s.exec(s.as("$o"), `INSERT INTO own.task ("group", input, data) VALUES `+strings.Join(values, ", "))
	s.exec(s.as("$o"), `INSERT INTO own.task ("group", remote, input, data) SELECT 'fields', '`+manyFields(t)+`', 'SELECT 1', 'x' FROM generate_series(1, 8)`)
	// Inserters of data alone, and of a long input.
	for range 4 {
		s.exec(s.mallory, "INSERT INTO own.task (input, data) VALUES ('SELECT 1', repeat('x', 100000000))")
	}
	s.exec(s.mallory, "INSERT INTO own.task (input, data) VALUES ('SELECT 1', repeat('x', 400000000)), ('SELECT 1 --' || repeat('x', 100000000), '')")
	s.ends(table, s.add(table, `"group", input`, "'in between', 'SELECT 1'"), "DONE")
	left := "SELECT count(*) FROM own.task WHERE state IN ('PLAN', 'TAKE', 'WORK') AND plan <= now()"
	if !servertest.Comes(2*patience, func() bool { return s.get(s.safe, left) == "0" }) {
		t.Errorf("%s tasks have not ended", s.get(s.safe, left))
	}
	for _, wrong := range []string{"octet_length(output) > 9000000", "octet_length(error) > 70000", "octet_length(notice) > 70000"} {
		if n := s.get(s.safe, "SELECT count(*) FROM own.task WHERE "+wrong); n != "0" {
			t.Errorf("%s tasks have %s", n, wrong)
		}
	}
	p.stays(t, atWork)
}

// manyFields returns the connection string of a server whose errors have endlessly many fields.
func manyFields(t *testing.T) (dsn string) {
	t.Helper()
	field := strings.Repeat("x", 254)
	var fields []string
	for range 400_000 {
		fields = append(fields, "S", field)
	}
	failure := fake.Failure(fields...).Bytes()
	server, err := fake.Start(func(exchange fake.Exchange, right []fake.Message) fake.Answer {
		if exchange == fake.Input {
			return fake.Answer{Bytes: failure, Failed: true}
		}
		return fake.Right(right)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server.DSN()
}

// TestMemoryOfWaiting: a thousand tasks wait, each as long as it may be.
func TestMemoryOfWaiting(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", object{"run": 2})
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	s.exec(s.as("$o"), `INSERT INTO own.task ("group", input) SELECT 'long ' || i, 'SELECT pg_sleep(60)' FROM generate_series(1, 2) AS i`)
	if !servertest.Comes(servedIn, func() bool { return s.get(s.safe, "SELECT count(*) FROM own.task WHERE state = 'WORK'") == "2" }) {
		t.Error("nothing runs")
	}
	s.exec(s.as("$o"), `INSERT INTO own.task ("group", "null", remote, input, data) SELECT repeat(i::text, 15000), repeat('n', 60000), 'host=nowhere.invalid application_name=' || repeat('r', 60000),
		'SELECT 1 --' || repeat('x', 200000), repeat('d', 200000) FROM generate_series(1, 1000) AS i`)
	id := s.add(table, `"group", input, priority`, "'first', 'SELECT 1', 1")
	s.exec(s.user, "UPDATE own.task SET state = 'STOP' WHERE state = 'WORK'")
	s.ends(table, id, "DONE")
	p.stays(t, waiting)
}

// TestLongNamesAreRefused: an INSERT bounds the columns that pgtaskd keeps in memory for each task.
func TestLongNamesAreRefused(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", nil)
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	for column, most := range map[string]int{`"group"`: 64 << 10, `"null"`: 64 << 10, "remote": 64 << 10, "key": 1 << 10} {
		for n, taken := range map[int]bool{most: true, most + 1: false, 20_000_000: false} {
			err := s.try(s.user, fmt.Sprintf(`INSERT INTO %s (plan, input, %s) VALUES ('infinity', 'SELECT 1', repeat('x', %d))`, table.name(), column, n))
			if (err == nil) != taken {
				t.Errorf("%s of %d bytes: %v", column, n, err)
			}
		}
	}
	s.use(attack{}, p, "in the end", 0)
}
