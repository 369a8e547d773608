package apply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/apply"
	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/work/control"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var public = sql.Table{Schema: "public", Name: "task"}

// stage is a task table, and the session that a command would have.
type stage struct {
	t      *testing.T
	conn   *pgx.Conn // the test's
	own    *pgx.Conn
	folder string
}

func play(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	s := &stage{t: t, conn: servertest.Connect(t, dsn), folder: t.TempDir()}
	s.own = dial(t, dsn)
	return s
}

func dial(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	target, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := control.Dial(t.Context(), target, "pgtaskd-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// write writes a file into the test's folder, and returns its path.
func (s *stage) write(name, text string) string { return write(s.t, s.folder, name, text) }

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run applies a text. It returns the shown changes, or the error without the folder's name.
func (s *stage) run(text string, o apply.Options) string {
	s.t.Helper()
	if o.Owner == "" {
		o.Owner = "git"
	}
	jobs, err := apply.Read([]string{s.write("jobs.yaml", text)}, 1<<20)
	if err == nil {
		var result apply.Result
		if result, err = apply.Run(s.t.Context(), s.own, public, jobs, o); err == nil {
			return outcome(result)
		}
	}
	return strings.ReplaceAll(err.Error(), s.folder+"/", "")
}

func outcome(r apply.Result) string {
	var lines []string
	for _, change := range r.Changes {
		lines = append(lines, change.Lines()...)
	}
	for _, job := range r.Paused {
		lines = append(lines, job.Lines()...)
	}
	for _, key := range r.Expired {
		lines = append(lines, "over "+key)
	}
	for _, key := range r.Unnamed {
		lines = append(lines, "unnamed "+key)
	}
	return strings.Join(lines, "\n")
}

func (s *stage) exec(sql string, args ...any) {
	s.t.Helper()
	servertest.Exec(s.t, s.conn, sql, args...)
}

func (s *stage) get(sql string, args ...any) string {
	s.t.Helper()
	return servertest.Get(s.t, s.conn, sql, args...)
}

func (s *stage) equal(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
