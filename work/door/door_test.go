package door

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

var task = sql.Table{Schema: "work", Name: "task"}

// stage is a database with a table of role svc. Nobody trusts role m; app is an application.
type stage struct {
	*testing.T
	dsn  string
	conn *pgx.Conn
}

func set(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, dsn: servertest.Database(t)}
	s.conn = servertest.Connect(t, s.dsn, pin)
	servertest.Exec(t, s.conn, `
		DO $$ BEGIN
			CREATE ROLE svc LOGIN;
			CREATE ROLE m LOGIN;
			CREATE ROLE app LOGIN;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
		END $$;
		REVOKE ALL ON SCHEMA public FROM PUBLIC;
		CREATE SCHEMA svc AUTHORIZATION svc;
		CREATE SCHEMA work AUTHORIZATION svc;
		CREATE SCHEMA other;
		GRANT ALL ON SCHEMA other TO PUBLIC;`)
	conn := s.as("svc")
	if _, err := schema.Install(t.Context(), conn, task, schema.Options{Serving: "svc"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) as(role string) *pgx.Conn {
	return servertest.Connect(s, s.dsn, pin, func(c *pgx.ConnConfig) { c.User = role })
}

// pin gives a session the settings of a controller.
func pin(c *pgx.ConnConfig) {
	c.RuntimeParams["search_path"] = "pg_catalog, pg_temp"
	c.RuntimeParams["jit"] = "off"
}

// look runs the statements, returns the findings of the door, and rolls back.
func (s *stage) look(c example) (lines []string) {
	s.Helper()
	tx, err := s.conn.Begin(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	servertest.Exec(s, s.conn, s.named(c.setup))
	serving := "svc"
	if c.superuser {
		serving = "postgres"
	}
	servertest.Exec(s, s.conn, "SET LOCAL SESSION AUTHORIZATION "+serving)
	target := Target{Table: task, Trust: c.trust, Inserter: c.inserter, Path: c.path}
	if c.table != "" {
		target.Table.Name = c.table
	}
	if target.Path == "" {
		target.Path = `"$user", work`
	}
	found, err := Within(s.Context(), tx, target)
	if err != nil {
		s.Fatal(err)
	}
	servertest.Exec(s, s.conn, "RESET SESSION AUTHORIZATION")
	for _, f := range found {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(f.Grade, " ", f.Who, " ", f.Way, " ", f.What)))
		s.mends(f)
	}
	return lines
}

// named fills in the names of the database and the register.
func (s *stage) named(text string) string {
	register := sql.BesideName(task, "session")
	return strings.NewReplacer(":db", s.conn.Config().Database, ":register", "work."+register).Replace(text)
}

// mends runs the statement that mends a finding.
func (s *stage) mends(f Finding) {
	s.Helper()
	if verb, _, _ := strings.Cut(f.Mend, " "); strings.Contains("ALTER REVOKE CREATE", verb) && f.Mend != "" {
		servertest.Exec(s, s.conn, f.Mend)
	}
}

func TestDoor(t *testing.T) {
	t.Parallel()
	s := set(t)
	for _, c := range examples {
		got := strings.Join(s.look(c), "\n")
		if want := s.named(strings.Join(c.want, "\n")); got != want {
			t.Errorf("%s: the door says\n%s\nnot\n%s", c.name, got, want)
		}
	}
}
