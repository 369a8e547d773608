package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// shell runs commands as a person would.
type shell struct {
	t      *testing.T
	folder string
	conn   *pgx.Conn
	dsn    string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dsn := tasktest.Database(t)
	s := &shell{t: t, folder: t.TempDir(), conn: servertest.Connect(t, dsn), dsn: dsn}
	return s
}

func (s *shell) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// says runs a command and compares its status and output.
func (s *shell) says(status int, want string, args ...string) {
	s.t.Helper()
	var out bytes.Buffer
	code := exitCode(run(s.t.Context(), args, &out, &out), &out)
	if got := strings.ReplaceAll(out.String(), s.folder+"/", ""); code != status || got != want {
		s.t.Errorf("%q: status %d\n%s\nwant status %d\n%s", args, code, got, status, want)
	}
}

func TestApplyCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	file := s.write("jobs.yaml", "- key: report\n  repeat: 1 day\n  input_file: report.sql\n- key: tidy\n  repeat: 1 hour\n  input: DELETE FROM log\n")
	s.write("report.sql", "SELECT 1\nFROM a\nWHERE b\n")
	apply := func(more ...string) []string {
		return append([]string{"apply", file, "--owner", "ops", "--dsn", s.dsn}, more...)
	}
	begun := "+ report\n    repeat: 1 day\n    input: SELECT 1 (and 2 more lines)\n+ tidy\n    repeat: 01:00:00\n    input: DELETE FROM log\n"
	s.says(2, begun+"dry run, nothing is changed: 2 new, 0 changed, 0 pruned, 0 unchanged\n", apply("--dry-run")...)
	s.says(0, begun+"2 new, 0 changed, 0 pruned, 0 unchanged\n", apply()...)
	s.says(0, "nothing to do: 2 unchanged\n", apply()...)
	s.says(0, "nothing to do: 2 unchanged\n", apply("--dry-run")...)
	s.write("report.sql", "SELECT 2\nFROM a\nWHERE b\n")
	s.write("jobs.yaml", "- key: report\n  repeat: 2 days\n  input_file: report.sql\n")
	changed := "~ report\n    repeat: 1 day → 2 days\n    input:\n      - SELECT 1\n      + SELECT 2\n        FROM a\n        WHERE b\n"
	s.says(0, changed+"= tidy (in no file; --prune removes it)\n0 new, 1 changed, 0 pruned, 0 unchanged\n", apply()...)
	s.says(0, "- tidy\n0 new, 0 changed, 1 pruned, 1 unchanged\n", apply("--prune")...)
	s.says(0, "nothing to do: 1 unchanged\n", apply("--prune")...)
	s.write("jobs.yaml", "- key: report\n  repeat: 2 days\n  imput: x\n")
	s.says(1, "pgtaskd: jobs.yaml: line 1, column 8: the job has neither input nor input_file\n", apply()...)
	s.write("jobs.yaml", "- key: report\n  repeat: often\n  input: x\n  imput: x\n")
	s.says(1, "pgtaskd: jobs.yaml: line 4, column 3: the table has no column \"imput\"; did you mean \"input\"?\n", apply("--dry-run")...)
	s.says(1, "pgtaskd: --owner must be a name of at most 1 kB\n", "apply", file, "--owner", "", "--dsn", s.dsn)
	s.says(1, "pgtaskd: --config FILE or --dsn DSN must say where the table is\n", "apply", file, "--owner", "x")
}

// TestApplyPrintsWhatIsHostileAsItIs: hidden characters of a file or table reach the terminal only
// as escapes, and passwords not at all.
func TestApplyPrintsWhatIsHostileAsItIs(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	servertest.Exec(t, s.conn, `INSERT INTO task (key, input, repeat, remote, data) VALUES ('a', 'x', '1 h', 'host=h password=old-secret', E'\x1b[2J')`)
	servertest.Exec(t, s.conn, `INSERT INTO task (key, input, repeat, remote, owner) VALUES ('b', 'x', '1 h', 'postgres://u:old-secret@h/d', 'x'), ('c', 'x', '1 h', 'password old-secret', 'x'), (E'd\x1b', 'x', '1 h', 'password=old-secret', 'x')`)
	file := s.write("jobs.yaml", "- {key: a, repeat: 1 h, input: x, remote: host=h password=new-secret}\n- {key: b, repeat: 1 h, input: x, remote: 'postgres://u:new-secret@h/e'}\n"+
		"- {key: c, repeat: 1 h, input: x, remote: name}\n- {key: \"\\u202e\", repeat: 1 h, input: \"\\e]0;x\\a\", remote: 'password=new-secret'}\n")
	s.says(0, `~ a (had no owner, belongs to "x" now)
    data: \x1b[2J → NULL
    remote: host=h → host=h (what has changed is not shown)
~ b
    remote: host=h dbname=d user=u → host=h dbname=e user=u
~ c
    remote: a connection string that cannot be read → name
+ \u202e
    repeat: 01:00:00
    input: \x1b]0;x\x07
    remote: a connection string of which nothing is shown
- d\x1b
1 new, 3 changed, 1 pruned, 0 unchanged
`, "apply", file, "--owner", "x", "--prune", "--dsn", s.dsn)
}

// TestTheTargetOfACommand: it is named if there are several.
func TestTheTargetOfACommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	database := value(t, s.conn, "SELECT current_database()")
	if _, err := schema.Install(t.Context(), s.conn, sql.Table{Schema: "other", Name: "job"}, schema.Options{}); err != nil {
		t.Fatal(err)
	}
	file := s.write("jobs.json", `[{"key": "a", "repeat": "1 h", "input": "SELECT 1"}]`)
	one := fmt.Sprintf(`{"dsn": %q, "targets": [{"data": %q, "user": "postgres"}]}`, s.dsn, database)
	both := strings.Replace(one, "]}", fmt.Sprintf(`, {"data": %q, "user": "postgres", "schema": "other", "table": "job"}]}`, database), 1)
	config, several := s.write("one.json", one), s.write("both.json", both)
	const created = "+ a\n    repeat: 01:00:00\n    input: SELECT 1\n1 new, 0 changed, 0 pruned, 0 unchanged\n"
	s.says(0, created, "apply", file, "--owner", "x", "--config", config)
	names := fmt.Sprintf("[%q %q]", database+"/other/job", database+"/public/task")
	s.says(1, "pgtaskd: the configuration has several targets: name one with --target: "+names+"\n", "apply", file, "--owner", "x", "--config", several)
	s.says(1, fmt.Sprintf("pgtaskd: no target has the name %q; did you mean %q?\n", database+"/other/jobs", database+"/other/job"), "apply", file, "--owner", "x", "--config", several, "--target", database+"/other/jobs")
	s.says(0, created, "apply", file, "--owner", "x", "--config", several, "--target", database+"/other/job")
	s.says(0, "nothing to do: 1 unchanged\n", "apply", file, "--owner", "x", "--dsn", s.dsn, "--target", database+"/other/job")
	s.says(1, fmt.Sprintf("pgtaskd: the target \"shop/other/job\" is not in the database %q to which the connection string leads\n", database), "run-now", "a", "--dsn", s.dsn, "--target", "shop/other/job")
	s.says(1, "pgtaskd: \"job\" is no target: write database/schema/table\n", "run-now", "a", "--dsn", s.dsn, "--target", "job")
	s.says(0, "2\n", "run-now", "a", "--config", several, "--target", database+"/public/task")
	s.says(1, "pgtaskd: no task has this key: \"b\\x1b\"\n", "run-now", "b\x1b", "--dsn", s.dsn)
	s.says(1, "pgtaskd: the configuration has no targets\n", "run-now", "a", "--config", s.write("none.json", "[]"))
	if rows := value(t, s.conn, "SELECT concat((SELECT count(*) FROM task), ' ', (SELECT count(*) FROM other.job))"); rows != "2 1" {
		t.Error(rows)
	}
}

func TestApplyHasALineForEachFault(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	file := s.write("jobs.yaml", "- key: a\n  input: x\n- key: b\n  input: x\n")
	s.says(1, "pgtaskd: jobs.yaml: line 1, column 8: the job has neither cron nor repeat\npgtaskd: jobs.yaml: line 3, column 8: the job has neither cron nor repeat\n",
		"apply", file, "--owner", "x", "--dsn", s.dsn)
}
