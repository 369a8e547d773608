package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("COLUMNS") // the documents show whole lines
	servertest.Main(m)
}

// TestDocs runs the examples of docs/*.md and docs/recipes/*.md, so that they stay true (TestReadme
// those of README.md):
//
//   - The sql blocks of a section, from one heading to the next, run statement by statement in their
//     own database, which is served from the beginning of the section.
//   - A text block after an sql block is the result of its last statement. A query is repeated until
//     it has this result: tasks take their time.
//   - <!-- serve: {…} --> serves the section's target with these keys, and only from there on.
//   - <!-- not run --> skips the next block.
//   - json blocks are configurations without faults.
func TestDocs(t *testing.T) {
	own := servertest.New(t, server.Options{}) // the examples create roles, which belong to the whole server
	admin := servertest.Connect(t, own.DSN("postgres"))
	servertest.Exec(t, admin, "CREATE DATABASE example")
	made := servertest.Connect(t, own.DSN("example"))
	tasktest.Make(t, made, schema.Options{})
	if err := made.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied := " TEMPLATE example" + servertest.Strategy(admin)
	databases := 0
	for _, file := range documents(t) {
		if file == "README.md" {
			continue
		}
		for _, s := range sections(t, file) {
			databases++
			database := fmt.Sprint("example_", databases)
			t.Run(file+"/"+s.title, func(t *testing.T) {
				t.Parallel()
				s.run(t, own, database, copied)
			})
		}
	}
}

func documents(t *testing.T) []string {
	inside, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := filepath.Glob("docs/recipes/*.md")
	if err != nil || len(recipes) == 0 {
		t.Fatal("there are no recipes: ", err)
	}
	outside, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(inside, recipes, outside)
}

// section is the part of a document between two headings.
type section struct {
	title  string
	blocks []block
}

// block is a fenced block, or an instruction to the test.
type block struct {
	kind   string // sql, json, or serve
	text   string
	line   int
	result *string // nil: any result
}

func (s *section) has(kind string) bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == kind })
}

var instruction = regexp.MustCompile(`^<!-- (?:(serve): (.*)|not run) -->$`)

// sections reads the sections of a document that have something to run.
func sections(t *testing.T, file string) (found []section) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var current section
	add := func() {
		if current.has("sql") || current.has("json") {
			found = append(found, current)
		}
	}
	lines := strings.Split(string(data), "\n")
	leave := false
	adjacent := false // only empty lines since the last sql block
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		match := instruction.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "```"):
			kind, first := strings.TrimPrefix(line, "```"), i+1
			for i++; i < len(lines) && lines[i] != "```"; i++ {
			}
			text := strings.Join(lines[first:i], "\n")
			last := len(current.blocks) - 1
			switch {
			case leave:
			case kind == "text" && adjacent:
				current.blocks[last].result = &text
			case kind == "sql" || kind == "json":
				current.blocks = append(current.blocks, block{kind: kind, text: text, line: first})
			}
			adjacent = kind == "sql" && !leave
			leave = false
		case match != nil && match[1] == "serve":
			current.blocks = append(current.blocks, block{kind: "serve", text: match[2], line: i + 1})
		case match != nil:
			leave = true
		case strings.HasPrefix(line, "#"):
			add()
			current, adjacent = section{title: strings.TrimLeft(line, "# ")}, false
		case line != "":
			adjacent = false
		}
	}
	add()
	return found
}

// run runs a section in a new database; copied is the end of its CREATE DATABASE.
func (s *section) run(t *testing.T, own *server.Server, database, copied string) {
	var conn *pgx.Conn
	var dsn string
	if s.has("sql") {
		servertest.Exec(t, servertest.Connect(t, own.DSN("postgres")), "CREATE DATABASE "+database+copied)
		dsn = own.DSN(database)
		conn = servertest.Connect(t, dsn)
		if !s.has("serve") {
			serve(t, conn, dsn, "{}")
		}
	}
	for _, b := range s.blocks {
		if b.kind == "serve" {
			serve(t, conn, dsn, b.text)
		} else {
			b.try(t, conn)
		}
	}
}

// examples runs the blocks in a served database.
func (s *section) examples(t *testing.T, conn *pgx.Conn) {
	for _, b := range s.blocks {
		b.try(t, conn)
	}
}

// try runs the statements of a block, or reads its configuration.
func (b *block) try(t *testing.T, conn *pgx.Conn) {
	if b.kind == "sql" {
		b.example(t, conn)
	} else if _, err := conf.Parse([]byte(b.text)); err != nil {
		t.Errorf("line %d: %v", b.line, err)
	}
}

// serve serves a target of the test's database, with these keys, until the test ends. If the target
// creates its table, serve waits until it is led.
func serve(t *testing.T, conn *pgx.Conn, dsn, keys string) {
	target := map[string]any{"data": conn.Config().Database, "user": "postgres", "grace": "0 s"}
	if err := json.Unmarshal([]byte(keys), &target); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(map[string]any{"dsn": dsn, "targets": []any{target}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := conf.Parse(written)
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- conf.RunTargets(context.WithoutCancel(t.Context()), file.Targets, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop})
	}()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	table := sql.Table{Schema: file.Targets[0].Schema, Name: file.Targets[0].Table}
	leaders := pgx.Identifier{table.Schema, sql.BesideName(table, "leader")}.Sanitize()
	// Wait: the controller grants rights until it leads, and two may not do that at the same time.
	led := func() bool {
		if !file.Targets[0].Create { // the controller grants nothing
			return true
		}
		var leads bool
		err := conn.QueryRow(t.Context(), "SELECT count(*) > 0 FROM "+leaders+" WHERE leads").Scan(&leads)
		return err == nil && leads
	}
	if !soon(led) {
		t.Fatalf("%s is not served", keys)
	}
}

// soon tries until it succeeds, for a while.
func soon(try func() bool) bool { return servertest.Comes(30*time.Second, try) }

// example runs the statements of a block. Only the last one may fail: its error is its result.
func (b *block) example(t *testing.T, conn *pgx.Conn) {
	if statement, data, found := strings.Cut(b.text, " FROM STDIN (FORMAT csv);\n"); found {
		if _, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader(strings.TrimSuffix(data, `\.`)), statement+" FROM STDIN (FORMAT csv)"); err != nil {
			t.Fatalf("line %d: %v", b.line, err)
		}
		return
	}
	all := statements(b.text)
	for _, statement := range all[:len(all)-1] {
		if _, err := conn.PgConn().Exec(t.Context(), statement).ReadAll(); err != nil {
			t.Fatalf("line %d: %s\n%v", b.line, statement, err)
		}
	}
	last, got := all[len(all)-1], ""
	run := func() bool {
		results, err := conn.PgConn().Exec(t.Context(), last).ReadAll()
		got = shown(results, err)
		return b.result == nil && err == nil || b.result != nil && got == *b.result
	}
	if query := strings.HasPrefix(strings.ToUpper(last), "SELECT"); query && !soon(run) || !query && !run() {
		t.Fatalf("line %d: %s\n%s", b.line, last, got)
	}
}

// statements splits a text at semicolons at the end of a line, outside quotes.
func statements(text string) (all []string) {
	begun := ""
	for line := range strings.Lines(text) {
		begun += line
		quoted := strings.Count(begun, "'")%2 == 1 || strings.Count(begun, "$$")%2 == 1
		if strings.HasSuffix(strings.TrimRight(line, "\n"), ";") && !quoted {
			all, begun = append(all, strings.TrimSpace(begun)), ""
		}
	}
	if begun != "" {
		all = append(all, strings.TrimSpace(begun))
	}
	return all
}
