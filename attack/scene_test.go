//go:build slow

package attack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

type object = map[string]any

var scenes atomic.Int64

// scene is a database with an attacker, and with tables that are served.
type scene struct {
	*testing.T
	n        int64
	database string
	roles    map[string]string // by placeholder
	safe     *pgx.Conn         // of a superuser, who finds nothing but the catalog
	user     *pgx.Conn         // of somebody who inserts tasks, as people do
	mallory  *pgx.Conn
	targets  []*target
	config   string
	from     int // where the server's log began
}

// target is a table to be served.
type target struct {
	schema, table string
	role          string
	printed       string // the role that runs the output of `pgtaskd schema`; "": run makes the table
	refused       string // by whom and why, after that
	broken        bool   // it has failed; further failures would add nothing
	keys          object // more keys of its configuration
}

// newScene makes a database with its roles: the attacker, a role that owns its table, and a role
// that only serves.
func newScene(t *testing.T) *scene {
	t.Helper()
	n := scenes.Add(1)
	s := &scene{T: t, n: n, database: fmt.Sprint("attack_", n), from: len(serverLog(t))}
	s.roles = map[string]string{
		"$m": fmt.Sprint("mallory_", n), "$o": fmt.Sprint("owner_", n), "$l": fmt.Sprint("low_", n), "$d": s.database, "$p": "postgres",
	}
	s.targets = []*target{
		{schema: "public", table: "task", role: "$p"},
		{schema: "public", table: "printed", role: "$p", printed: "$p"},
		{schema: "own", table: "task", role: "$o"},
		{schema: "own", table: "printed", role: "$o", printed: "$o"},
		{schema: "low", table: "task", role: "$l"},
	}
	root := s.connect(postgres.DSN("postgres"), "pg_catalog")
	for _, sql := range []string{"CREATE ROLE $m LOGIN", "CREATE ROLE $o LOGIN", "CREATE ROLE $l LOGIN", "CREATE DATABASE $d"} {
		s.exec(root, sql)
	}
	s.safe = s.connect(postgres.DSN(s.database), "pg_catalog")
	s.user = s.connect(postgres.DSN(s.database), "public")
	s.exec(s.safe, file(t, "kit"))
	s.exec(s.safe, "CREATE SCHEMA own; GRANT ALL ON SCHEMA own TO $o; CREATE SCHEMA low; GRANT USAGE ON SCHEMA low TO PUBLIC")
	s.mallory = s.as("$m")
	return s
}

// file returns a file of testdata.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// connect connects until the test ends. A given path overrides those of the role and the database.
func (s *scene) connect(dsn, path string) *pgx.Conn {
	s.Helper()
	return servertest.Connect(s, dsn, func(config *pgx.ConnConfig) {
		if path != "" {
			config.RuntimeParams["search_path"] = path
			config.RuntimeParams["statement_timeout"] = "10s"
		}
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	})
}

func (s *scene) as(role string) *pgx.Conn {
	s.Helper()
	return s.connect(s.dsn(role), "")
}

func (s *scene) dsn(role string) string {
	return strings.Replace(postgres.DSN(s.database), "user=postgres", "user="+s.roles[role], 1)
}

var placeholders = regexp.MustCompile(`\$[a-z]\b`)

// fill replaces placeholders by names.
func (s *scene) fill(sql string) string {
	return placeholders.ReplaceAllStringFunc(sql, func(placeholder string) string {
		if name, known := s.roles[placeholder]; known {
			return pgx.Identifier{name}.Sanitize()
		}
		return placeholder
	})
}

// try runs statements. Statements with $t, a table, or $h, its hash, run for each table, statements
// with $n for each schema.
func (s *scene) try(conn *pgx.Conn, statements string) error {
	sql := s.fill(statements)
	done := map[string]bool{}
	for _, t := range s.targets {
		one := strings.NewReplacer("$t_leader", pgx.Identifier{t.schema, t.table + "_leader"}.Sanitize(), "$t", t.name(), "$h", t.hash(), "$n", pgx.Identifier{t.schema}.Sanitize()).Replace(sql)
		if done[one] {
			continue
		}
		if _, err := conn.PgConn().Exec(s.Context(), one).ReadAll(); err != nil {
			return err
		}
		done[one] = true
	}
	return nil
}

func (s *scene) exec(conn *pgx.Conn, statements string) {
	s.Helper()
	if err := s.try(conn, statements); err != nil {
		s.Fatalf("%.300s: %v", statements, err)
	}
}

// get returns the first value of the first row, as the server writes it; "" if there is none.
func (s *scene) get(conn *pgx.Conn, sql string) string {
	s.Helper()
	values := servertest.Values(s, conn, s.fill(sql))
	if len(values) == 0 || values[0] == servertest.Null {
		return ""
	}
	return values[0]
}

// name is the quoted name of the table.
func (t *target) name() string { return pgx.Identifier{t.schema, t.table}.Sanitize() }

// hash stands for the table in the names of its objects.
func (t *target) hash() string {
	sum := sha256.Sum256([]byte(t.name()))
	return hex.EncodeToString(sum[:8])
}

// logged is the name of a target in the log.
func (s *scene) logged(t *target) string { return s.database + "/" + t.schema + "/" + t.table }

// configure writes the configuration.
func (s *scene) configure(more object) {
	s.Helper()
	var targets []object
	for _, t := range s.targets {
		defaults := object{}
		if t.printed == "" {
			defaults = object{"active": "1 day", "group": "some"} // pgtaskd compares them with the table
		}
		targets = append(targets, object{
			"defaults": defaults, "data": s.database, "user": s.roles[t.role], "schema": t.schema, "table": t.table, "create": t.printed == "", "grace": "1 s", "run": 4,
		})
		maps.Copy(targets[len(targets)-1], t.keys)
	}
	conf := object{"dsn": postgres.DSN("postgres"), "targets": targets}
	for key, value := range more {
		conf[key] = value
	}
	text, err := json.Marshal(conf)
	if err != nil {
		s.Fatal(err)
	}
	s.config = filepath.Join(s.TempDir(), "pgtaskd.json")
	if err := os.WriteFile(s.config, text, 0o600); err != nil {
		s.Fatal(err)
	}
}

// serverLog returns the server's log so far.
func serverLog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(postgres.SocketDir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// denied tells that the attacker may not run the statement.
func denied(err error) bool {
	var answer *pgconn.PgError
	return err != nil && errors.As(err, &answer) && answer.Code == "42501"
}
