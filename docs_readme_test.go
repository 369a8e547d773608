package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// TestReadme runs the examples of README.md in any order, all in one database with the tasks of the
// demo. The psql session at its beginning is one of them.
func TestReadme(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{})
	servertest.Exec(t, servertest.Connect(t, own.DSN("postgres")), "CREATE DATABASE demo")
	conn := servertest.Connect(t, own.DSN("demo"))
	tasktest.Make(t, conn, schema.Options{})
	serve(t, conn, own.DSN("demo"), "{}")
	insertDemo(t, conn)

	parts := sections(t, "README.md")
	parts = append(parts, section{title: "picture", blocks: transcript(t, read(t, "README.md"))})
	for _, n := range rand.Perm(len(parts)) {
		t.Run(parts[n].title, func(t *testing.T) { parts[n].examples(t, conn) })
	}
}

// TestReadmeCommands: the README shows the two commands for newcomers, and each installs everything
// it needs.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	readme, makefile := read(t, "README.md"), read(t, "Makefile")
	for command, recipe := range map[string]string{"make demo": "demo", "make test": "test-needs"} {
		if !strings.Contains(readme, "\n"+command+" ") {
			t.Errorf("README.md does not show %s", command)
		}
		_, rest, found := strings.Cut(makefile, "\n"+recipe+":")
		steps, _, _ := strings.Cut(rest, "\n\n")
		if !found || !strings.Contains(steps, "\tserver/install.sh postgresql") {
			t.Errorf("%s does not install PostgreSQL", command)
		}
	}
}

// TestReadmeTellsWhatIsMade: in the server, with the table and beside it.
func TestReadmeTellsWhatIsMade(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, servertest.Database(t))
	tasktest.Make(t, conn, schema.Options{})
	var tables, views, functions, shared int
	err := conn.QueryRow(t.Context(), `SELECT
			(SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'),
			(SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'),
			(SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
			(SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, 'pgtaskd_'))`).
		Scan(&tables, &views, &functions, &shared)
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.Join(strings.Fields(read(t, "README.md")), " ")
	for _, says := range []string{
		fmt.Sprintf("| %d tables, %d views, %d functions |", tables, views, functions),
		fmt.Sprintf("and %d that all its tables share", shared),
	} {
		if !strings.Contains(readme, says) {
			t.Errorf("README.md does not say %q", says)
		}
	}
}

func insertDemo(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	paths, err := filepath.Glob("demo/example/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal("the demo has no examples: ", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.PgConn().Exec(t.Context(), string(text)).ReadAll(); err != nil {
			t.Fatal(path, err)
		}
	}
}

// transcript reads the psql session of a text: each statement after a prompt, and its result.
func transcript(t *testing.T, text string) (blocks []block) {
	t.Helper()
	match := psqlBlock.FindStringSubmatch(text)
	if match == nil {
		t.Fatal("there is no session of psql")
	}
	for _, entry := range strings.Split("\n"+match[1], "\n"+psqlPrompt)[1:] {
		statement, result, _ := strings.Cut(entry, "\n")
		result = strings.TrimRight(result, "\n")
		blocks = append(blocks, block{kind: "sql", text: statement, result: &result})
	}
	return blocks
}

const psqlPrompt = "demo=# "

var psqlBlock = regexp.MustCompile(fmt.Sprintf("(?s)```text\n(%s.*?)\n```", regexp.QuoteMeta(psqlPrompt)))
