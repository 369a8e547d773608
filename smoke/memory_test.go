//go:build slow

package smoke

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/programtest"
)

// The most memory that the program may use, in bytes: with 32 running tasks of any kind, and with
// 1,000 waiting tasks.
const (
	mostAtWork  = 400e6
	mostWaiting = 100e6
)

// lean builds the program without the race detector, which takes several times the memory.
func lean(t *testing.T) (path string) {
	t.Helper()
	if !race {
		return pgtaskd
	}
	path, err := programtest.Build(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// peakOf checks the most memory that the program uses while do runs.
func (u *user) peakOf(p program, limit float64, do func()) {
	u.Helper()
	p.Peak(u.T)
	do()
	took := p.Peak(u.T) / 1e6
	if u.Logf("%.0f MB", took); took > limit/1e6 {
		u.Errorf("the program has taken %.0f MB, and may take %.0f", took, limit/1e6)
	}
}

// eachIs waits until this many tasks have ended, and checks that all have this state and meet the
// condition.
func (u *user) eachIs(n int, state, condition string) {
	u.Helper()
	const ended = "stop IS NOT NULL AND state <> 'WORK'" // a prepared row has its stop as well
	u.within(3*time.Minute, "SELECT count(*) >= $1::int FROM task WHERE "+ended, n)
	for _, row := range u.values("SELECT concat_ws(' ', state, octet_length(output), right(output, 90), left(error, 200)) FROM task "+
		"WHERE "+ended+" AND (state::text, true) IS DISTINCT FROM ($1, "+condition+") LIMIT 3", state) {
		u.Error(row)
	}
}

// Texts that take much memory: one that the server compresses well, and one of 7.7 MB that it does
// not.
const (
	hugeText = "repeat('x', 20000000)"
	longText = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 240000) AS n)"
)

func TestMemoryAtWork(t *testing.T) {
	s := &served{name: newDatabase(t)}
	s.conf = configure(t, s.name, object{"run": 32})
	s.program = program{programtest.Run(t, lean(t), "run", "--config", s.conf)}
	s.program.says(t, `"leading"`, 1)
	u := s.user(t)
	for _, column := range []string{"input", "data", "output"} { // else the server compresses for minutes
		u.exec("ALTER TABLE task ALTER " + column + " SET STORAGE EXTERNAL")
	}
	u.exec("CREATE TABLE texts AS SELECT " + longText + " AS long; CREATE TABLE lines AS SELECT md5(n::text) AS line FROM generate_series(1, 260000) AS n")
	cut := "output LIKE '... cut: %output_limit%' AND octet_length(output) < 200"
	for _, test := range []struct{ name, columns, values, state, check string }{
		{"one value of output", "input", "'SELECT repeat(''x'', 20000000)'", "DONE", cut},
		{"values of output", "input", "'SELECT repeat(''x'', 10000000), repeat(''y'', 10000000), 3'", "DONE", "output LIKE E'repeat\\trepeat\\t?column?\\n... cut: %'"},
		{"a line of COPY", "input", "'COPY (SELECT repeat(''x'', 20000000)) TO STDOUT'", "DONE", cut},
		{"an error", "input", "'DO $$BEGIN RAISE ''%'', repeat(''x'', 20000000) USING DETAIL = repeat(''y'', 20000000); END$$'", "FAIL", "octet_length(error) BETWEEN 60000 AND 65536"},
		{"a notice", "input", "'DO $$BEGIN RAISE WARNING ''%'', repeat(''x'', 20000000); END$$'", "DONE", "octet_length(notice) BETWEEN 60000 AND 65536"},
		{"the longest output", "input", "'SELECT line FROM lines'", "DONE", "octet_length(output) > 8300000"},
		{"one long value", "input", "'SELECT long FROM texts'", "DONE", "octet_length(output) = 7680000"},
		{"the longest output of a task that writes", "input", "'CREATE TEMP TABLE made (a int); SELECT line FROM lines'", "DONE", "octet_length(output) > 8300000"},
		{"long data and input", "data, input", "(SELECT long FROM texts), (SELECT 'SELECT line FROM lines /*' || long || '*/' FROM texts)", "DONE", "octet_length(output) > 8300000"},
		{"an error of a long input", "data, input", "(SELECT long FROM texts), (SELECT 'SELECT 1/0 /*' || long || '*/' FROM texts)", "FAIL", "octet_length(error) BETWEEN 60000 AND 65536"},
		{"data over the limit", "data, input", hugeText + ", 'SELECT 1'", "FAIL", "error LIKE '%data_limit%' AND octet_length(error) < 1000"},
		{"input over the limit", "input", "'SELECT 1 --' || " + hugeText, "FAIL", "error LIKE '%data_limit%' AND octet_length(error) < 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &user{t, u.conn, u.table}
			u.exec("TRUNCATE task")
			u.peakOf(s.program, mostAtWork, func() {
				u.exec("INSERT INTO task (max, " + test.columns + ") SELECT 31, " + test.values + " FROM generate_series(1, 32)")
				u.eachIs(32, test.state, test.check)
			})
		})
	}
}

// TestMemoryOfWhatWaits: waiting tasks take little memory, whatever their texts. Tasks that no
// INSERT should have let in FAIL, and no others.
func TestMemoryOfWhatWaits(t *testing.T) {
	s := &served{name: newDatabase(t)}
	s.conf = configure(t, s.name, object{"run": 8})
	s.program = program{programtest.Run(t, lean(t), "run", "--config", s.conf)}
	s.program.says(t, `"leading"`, 1)
	u := s.user(t)
	const text = "(SELECT string_agg(md5(random()::text || m || n), '') FROM generate_series(1, %d) AS m)"
	for _, test := range []struct{ name, columns, values, state, check string }{
		{"long names", `"group", "null"`, fmt.Sprintf(text+", "+text, 2000, 2000), "DONE", "true"},
		{"remotes", "remote", "'x=' || " + fmt.Sprintf(text, 2000), "FAIL", `sqlstate = '42601'`},
		{"groups that are too long", `"group"`, "n || " + hugeText, "FAIL", `error LIKE 'ERROR:  column "group" is too long%'`},
		{"remotes that are too long", "remote", "n || " + hugeText, "FAIL", `error LIKE 'ERROR:  column "remote" is too long%'`},
		{"nulls that are too long", `"null"`, "n || " + hugeText, "FAIL", `error LIKE 'ERROR:  column "null" is too long%'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &user{t, u.conn, u.table}
			n := 1000
			u.exec("TRUNCATE task; ALTER TABLE task ENABLE TRIGGER USER")
			if strings.Contains(test.values, hugeText) {
				n = 30 // inserting them takes a while
				u.exec("ALTER TABLE task DISABLE TRIGGER pgtaskd_accept")
			}
			u.peakOf(s.program, mostWaiting, func() {
				u.exec(fmt.Sprintf("INSERT INTO task (input, %s) SELECT 'SELECT NULL, 1', %s FROM generate_series(1, %d) AS n", test.columns, test.values, n))
				u.eachIs(n, test.state, test.check)
			})
			id := u.add("input", "'SELECT 1'")
			u.becomes(id, "DONE")
		})
	}
}
