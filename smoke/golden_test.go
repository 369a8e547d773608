package smoke

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const goldenFolder = "../testdata/task"

// golden is a task with its expected result, as testdata/task/README.md describes.
type golden struct {
	title   string
	columns map[string]string
	want    map[string]*string // state, output, error, sqlstate, notice
}

// TestGolden runs the tasks of all files in one table. Tasks run side by side, except those of one
// group.
func TestGolden(t *testing.T) {
	u := own(t, object{"run": 100}).user(t) // CONCURRENTLY waits for everything else in the database
	setup, err := os.ReadFile(filepath.Join(goldenFolder, "setup.sql"))
	if err != nil {
		t.Fatal(err)
	}
	u.exec("CREATE SCHEMA golden; SET search_path TO golden, public")
	u.exec(string(setup))

	paths, err := filepath.Glob(filepath.Join(goldenFolder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no tasks", err)
	}
	files := make([][]golden, len(paths))
	ids := make([][]string, len(paths))
	tx, err := u.conn.Begin(t.Context()) // so that no task starts before its group is complete
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		files[i] = readGolden(t, path)
		for n, g := range files[i] {
			if g.columns["group"] == "" {
				g.columns["group"] = fmt.Sprintf("%s %d", filepath.Base(path), n)
			}
			ids[i] = append(ids[i], g.insert(u))
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			for n, g := range files[i] {
				t.Run(g.title, func(t *testing.T) {
					u := &user{t, u.conn, u.table}
					g.compare(u, ids[i][n])
				})
			}
		})
	}
}

func (g golden) insert(u *user) (id string) {
	u.Helper()
	names := slices.Sorted(maps.Keys(g.columns))
	var places []string
	args := []any{pgx.QueryExecModeDescribeExec}
	for i, name := range names {
		// The column's type reads the text of each value.
		places = append(places, fmt.Sprintf("(SELECT r.%[1]s FROM jsonb_populate_record(NULL::public.task, jsonb_build_object('%[2]s', $%[3]d::text)) AS r)",
			pgx.Identifier{name}.Sanitize(), name, i+1))
		args = append(args, g.columns[name])
		names[i] = pgx.Identifier{name}.Sanitize()
	}
	err := u.conn.QueryRow(u.Context(), "INSERT INTO public.task ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(places, ", ")+
		") RETURNING id::text", args...).Scan(&id)
	if err != nil {
		u.Fatalf("%s: %v", g.title, err)
	}
	return id
}

// compare waits for the task's end and compares the row.
func (g golden) compare(u *user, id string) {
	u.Helper()
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	row := u.task(id)
	for _, column := range slices.Sorted(maps.Keys(g.want)) {
		want := task{column: g.want[column]}.text(column)
		if got := row.text(column); got != want || (row[column] == nil) != (g.want[column] == nil) {
			u.Errorf("%s:\n%s\n-- want:\n%s", column, got, want)
		}
	}
}

// readGolden reads the tasks of a file.
func readGolden(t *testing.T, path string) (all []golden) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split("\n"+string(content), "\n==== ")
	for _, text := range texts[1:] {
		title, text, _ := strings.Cut(text, "\n")
		g := golden{
			title:   title,
			columns: map[string]string{"delete": "false"},
			want:    map[string]*string{"state": ptr("DONE"), "output": nil, "error": nil, "sqlstate": nil, "notice": nil},
		}
		if err := g.parse(text); err != nil {
			t.Fatalf("%s: %s: %v", path, title, err)
		}
		all = append(all, g)
	}
	return all
}

// parse reads the text below the title: columns, then sections.
func (g golden) parse(text string) error {
	parts := strings.Split("\n"+text, "\n---- ")
	for line := range strings.FieldsFuncSeq(parts[0], func(r rune) bool { return r == '\n' }) {
		column, value, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("no column: %s", line)
		}
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = strconv.Unquote(value); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
		g.columns[column] = value
	}
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		text = strings.TrimSuffix(strings.TrimRight(text, "\n"), `\`)
		switch name, sqlstate, _ := strings.Cut(name, " "); name {
		case "input":
			g.columns["input"] = text
		case "error":
			g.want["state"], g.want["error"], g.want["sqlstate"] = ptr("FAIL"), &text, &sqlstate
		case "output", "notice":
			g.want[name] = &text
		default:
			return fmt.Errorf("unknown section %q", name)
		}
	}
	if _, ok := g.columns["input"]; !ok {
		return errors.New("no input")
	}
	return nil
}

func ptr(s string) *string { return &s }
