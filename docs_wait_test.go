package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// The guide shows how an application waits for the end of a task. Its programs run several tasks,
// one after another, and wait for notifications only.

// waited returns a database whose task table is served.
func waited(t *testing.T) (dsn string) {
	dsn = tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	serve(t, conn, dsn, "{}")
	return dsn
}

// runTask runs SQL as a task, and returns its state, output and error. Nobody else may use the
// connection meanwhile.
func runTask(ctx context.Context, conn *pgx.Conn, input string) (state string, output, failure *string, err error) {
	if _, err := conn.Exec(ctx, "LISTEN ended"); err != nil {
		return "", nil, nil, err
	}
	var id int64
	insert := "INSERT INTO task (notify, delete, input) VALUES ('ended', false, $1) RETURNING id"
	err = conn.QueryRow(ctx, insert, input).Scan(&id)
	for err == nil {
		look := "SELECT state, output, error FROM task WHERE id = $1 AND stop IS NOT NULL"
		err = conn.QueryRow(ctx, look, id).Scan(&state, &output, &failure)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
		_, err = conn.WaitForNotification(ctx)
	}
	return state, output, failure, err
}

func TestAnApplicationInGoWaits(t *testing.T) {
	t.Parallel()
	if own := read(t, "docs_wait_test.go"); !strings.Contains(own, program(t, "go")) {
		t.Error("the guide's program is not the one that is tested")
	}
	conn := servertest.Connect(t, waited(t))
	for n := range 20 {
		state, output, failure, err := runTask(t.Context(), conn, fmt.Sprintf("SELECT %d FROM pg_sleep(%d * 0.002)", n, n%3))
		if err != nil || state != "DONE" || output == nil || *output != fmt.Sprint(n) || failure != nil {
			t.Fatal(n, state, output, failure, err)
		}
	}
	if state, _, failure, err := runTask(t.Context(), conn, "SELECT 1/0"); err != nil || state != "FAIL" || failure == nil {
		t.Error(state, failure, err)
	}
}

// TestAnApplicationInPythonWaits: without psycopg, the test in Go must suffice.
func TestAnApplicationInPythonWaits(t *testing.T) {
	t.Parallel()
	text := program(t, "python")
	python := ""
	for _, path := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && exec.Command(path, "-c", "import psycopg").Run() == nil {
			python = path
		}
	}
	if python == "" {
		t.Log("psycopg is missing: server/install.sh psycopg installs it")
		return
	}
	command := exec.CommandContext(t.Context(), python, "-c", text+`
import os
conn = psycopg.connect(os.environ["DSN"], autocommit=True)
for n in range(20):
    assert run_task(conn, f"SELECT {n} FROM pg_sleep({n % 3} * 0.002)", None) == ("DONE", str(n), None)
print(run_task(conn, "SELECT 1/0", None)[0])
`)
	command.Env = append(os.Environ(), "DSN="+waited(t))
	if said, err := command.CombinedOutput(); err != nil || string(said) != "FAIL\n" {
		t.Errorf("%s %v", said, err)
	}
}

// program returns the guide's program in a language.
func program(t *testing.T, language string) string {
	t.Helper()
	match := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "docs/guide.md"))
	if match == nil {
		t.Fatal("the guide has no program in ", language)
	}
	return match[1]
}
