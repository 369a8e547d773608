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

func TestMain(m *testing.M) { servertest.Main(m) }

// The examples of docs/*.md and docs/recipes/*.md are run here, so that they stay true (those of
// README.md by TestReadme):
//
//   - The blocks of sql of a section, from one heading to the next, are run statement by statement
//     in a database of their own, which is served from the beginning of the section.
//   - A block of text right after a block of sql is the result of its last statement. A query is
//     asked again until that is its result: what tasks do takes its time.
//   - <!-- serve: {…} --> says how the section's target is served from there on, and that nobody
//     serves it before.
//   - <!-- not run --> in front of a block leaves it out.
//   - Blocks of json are configurations that must be without fault.
func TestDocs(t *testing.T) {
	own := servertest.New(t, server.Options{}) // the examples create roles, which belong to the server
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

// section is what stands between two headings.
type section struct {
	title  string
	blocks []block
}

// block is a fenced block, or an instruction to the test.
type block struct {
	kind   string // sql, json, or serve
	text   string
	line   int
	result *string // nil: nothing is said about it
}

func (s *section) has(kind string) bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == kind })
}

var instruction = regexp.MustCompile(`^<!-- (?:(serve): (.*)|not run) -->$`)

// sections reads those sections of a document in which there is something to run.
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
	adjacent := false // nothing but empty lines since the last block of sql
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

// run tries a section in a database of that name, which copied ends the statement for.
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

// examples tries the blocks in a database that is served.
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

// serve serves a target of the test's database, with these keys, until the test ends. It is led
// when serve returns, unless it is there before.
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
	led := func() bool { // before, rights are still granted, and no two may do that at a time
		if !file.Targets[0].Create { // it grants nothing
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

// example runs the statements of a block. An error is a result like any other, but only of the last
// of them.
func (b *block) example(t *testing.T, conn *pgx.Conn) {
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

// statements cuts a text at those semicolons at the end of a line that are not inside quotes.
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
