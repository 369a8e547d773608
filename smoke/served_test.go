package smoke

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/programtest"
	"pgtaskd/server/servertest"
)

type object = map[string]any

// served is a database with a program that serves tables in it.
type served struct {
	name    string // of the database
	conf    string // path of the configuration
	program program
}

var databases atomic.Int64

// createDatabase makes an empty database. Nothing drops it: the server is thrown away.
func createDatabase(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("smoke_%d", databases.Add(1))
	conn, err := pgx.Connect(ctx, postgres.DSN("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name+servertest.Strategy(conn))
	return name, err
}

func newDatabase(t *testing.T) (name string) {
	t.Helper()
	name, err := createDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// writeConf writes a configuration with these targets into a folder.
func writeConf(folder string, targets ...object) (path string, err error) {
	path = filepath.Join(folder, "pgtaskd.json")
	text, err := json.MarshalIndent(object{
		"dsn":     postgres.DSN("postgres"),
		"targets": targets,
		"remotes": object{"elsewhere": postgres.TCP("postgres"), "wrong": "host=127.0.0.1 port=1 user=nobody password=secret"},
	}, "", "  ")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o600)
}

// serveShared starts the program for tests that do not need their own tables.
func serveShared(ctx context.Context, folder string) (*served, error) {
	name, err := createDatabase(ctx)
	if err != nil {
		return nil, err
	}
	path, err := writeConf(
		folder,
		object{"data": name, "user": "postgres", "run": 150, "grace": "2 s"},
		object{"data": name, "user": "postgres", "table": "limited", "output_limit": 100},
		object{"data": name, "user": "postgres", "table": "strict", "output_limit": 100, "output_over": "fail"},
	)
	if err != nil {
		return nil, err
	}
	s := &served{name: name, conf: path}
	s.program.Program, err = programtest.Start(pgtaskd, "run", "--config", path)
	return s, err
}

// end drains the shared program, which must not fail.
func (s *served) end() error { return s.program.Drain(patience) }

// serve starts a program for a database, with one target for each object. An object needs no data;
// its user is postgres by default.
func serve(t *testing.T, database string, targets ...object) *served {
	t.Helper()
	s := &served{name: database, conf: configure(t, database, targets...)}
	s.program = run(t, "run", "--config", s.conf)
	s.program.says(t, `"leading"`, len(targets))
	return s
}

// configure writes the configuration for serve.
func configure(t *testing.T, database string, targets ...object) (path string) {
	t.Helper()
	for _, target := range targets {
		target["data"] = database
		if target["user"] == nil {
			target["user"] = "postgres"
		}
	}
	path, err := writeConf(t.TempDir(), targets...)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// own starts a program that serves public.task of a new database.
func own(t *testing.T, target object) *served {
	t.Helper()
	return serve(t, newDatabase(t), target)
}

// newServer starts a server for a test that crashes it.
func newServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}
