package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "pgtaskd"

// order is the direction of imports: a folder may import those to its right.
var order = []string{".", "demo", "apply", "ask", "moving", "web", "conf", "work", "remote", "exec", "sql", "routine", "human", "major"}

// programs are outside the order: they may import any folder in it except the first, and no folder
// may import them.
var programs = []string{"bench", "chaos", "smoke"}

// startServers are the folders, besides tests, that may start throw-away servers.
var startServers = []string{".", "demo", "bench", "chaos", "smoke"}

// confined names the only folder that may import a foreign package (and the packages below it).
var confined = map[string]string{
	"github.com/jackc/pgx/v5/pgproto3": "exec",
	"github.com/jackc/pglogrepl":       "work/wake",
	"github.com/goccy/go-yaml":         "apply",
	"github.com/robfig/cron/v3":        "work/schedule",
	"github.com/gdamore/tcell/v2":      "ask/top",
	"net/http":                         "web",
}

// forTests are the folders that only tests may import.
var forTests = []string{"server/servertest", "server/tasktest", "server/programtest", "work/control/controltest"}

// tested are the packages that the folders of forTests may import.
var tested = []string{"server/servertest", "sql", "sql/schema", "major"}

// rooms are folders whose packages may import neither the folder nor each other, except as in
// shared and uses.
var rooms = []string{"work", "exec"}

// shared are the rooms that all others may import.
var shared = []string{"work/target", "work/schedule", "work/control", "work/hold", "work/change", "work/inflight"}

// uses are the further rooms that a room may import.
var uses = map[string][]string{
	"work/run":      {"work/pool", "work/lane"},
	"work/pool":     {"work/lane"},
	"work/inflight": {"work/run"},
	"work/judge":    {"work/run", "work/lane"},
	"work/keep":     {"work/run"},
	"work/ends":     {"work/run", "work/pool", "work/ledger"},
	"work/ledger":   {"work/pool"},
	"work/mark":     {"work/run", "work/ledger"},
	"work/inbox":    {"work/run", "work/pool", "work/ledger"},
	"exec/bound":    {"exec/text"},
	"exec/text":     {"exec/fault"},
	"work/after":    {"work/lane"},
	"work/install":  {"work/door", "work/place", "work/wake"},
	"work/lead":     {"work/place", "work/pool"},
	"work/read":     {"work/run", "work/lane", "work/pool", "work/wake"},
}

// pure are the folders that import only the standard library.
var pure = []string{"work/lane", "exec/traits"}

// alone are the folders that import nothing of ours.
var alone = []string{"work/schedule"}

// TestImports reads the imports of all files except tests. A folder includes the packages below it.
func TestImports(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := refused(filepath.ToSlash(file), imported); why != "" {
				t.Errorf("%s imports %s: %s", file, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// refused says why a file must not import a package; "" if it may.
func refused(file, imported string) string {
	from := top(path.Dir(file))
	for prefix, folder := range confined {
		if !within(path.Dir(file), folder) && (imported == prefix || strings.HasPrefix(imported, prefix+"/")) {
			return "only " + folder + " may"
		}
	}
	if slices.Contains(pure, path.Dir(file)) && (top(imported) == module || strings.Contains(top(imported), ".")) {
		return path.Dir(file) + " imports nothing but the standard library"
	}
	rest, ours := strings.CutPrefix(imported, module)
	if !ours || rest != "" && rest[0] != '/' {
		return ""
	}
	rest = strings.TrimPrefix(rest, "/")
	to := top(rest)
	if slices.Contains(alone, path.Dir(file)) {
		return path.Dir(file) + " imports nothing of ours"
	}
	fromAt, toAt := slices.Index(order, from), slices.Index(order, to)
	switch {
	case slices.Contains(forTests, path.Dir(file)) && slices.Contains(tested, rest):
		return ""
	case slices.Contains(forTests, rest):
		return "only tests may"
	case slices.Contains(uses[path.Dir(file)], rest), slices.Contains(shared, rest) && slices.Contains(rooms, from):
		return ""
	case from == to && path.Dir(file) != from && rest != path.Dir(file) && slices.Contains(rooms, from):
		return "the rooms of " + from + " know neither it nor each other"
	case from == to:
		return ""
	case from == "server" && to == "major":
		return ""
	case to == "server":
		if !slices.Contains(startServers, from) {
			return "only tests and " + strings.Join(startServers, ", ") + " may start servers"
		}
		return ""
	case slices.Contains(programs, from) && toAt > 0:
		return ""
	case fromAt < 0 || toAt < 0:
		return "one of the two has no place in the order of imports"
	case fromAt > toAt:
		return "imports run one way: " + strings.Join(order, " → ")
	}
	return ""
}

// within reports whether dir is folder or below it.
func within(dir, folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }

// top returns the first folder of a path below the repository's root; "." for the root.
func top(dir string) string {
	if dir == "" {
		return "."
	}
	first, _, _ := strings.Cut(dir, "/")
	return first
}

func TestImportsAreRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		file, imported string
		refused        bool
	}{
		{"main.go", "pgtaskd/demo", false},
		{"main.go", "pgtaskd/sql", false},
		{"demo/demo.go", "pgtaskd/server", false},
		{"conf/read.go", "pgtaskd/work", false},
		{"exec/run.go", "github.com/jackc/pgx/v5/pgproto3", false},
		{"exec/fault/class.go", "pgtaskd/sql", false},
		{"exec/bound/reader.go", "pgtaskd/exec/text", false},
		{"exec/text/output.go", "pgtaskd/exec/bound", true},
		{"exec/traits/examiner.go", "pgtaskd/human", true},
		{"bench/main.go", "pgtaskd/work", false},
		{"server/server.go", "context", false},
		{"work/loop.go", "pgtaskdother/x", false},
		{"work/loop.go", "pgtaskd/conf", true},
		{"sql/table.go", "pgtaskd/exec", true},
		{"work/loop.go", "pgtaskd/server", true},
		{"demo/demo.go", "pgtaskd/server/servertest", true},
		{"demo/demo.go", "pgtaskd/server/tasktest", true},
		{"server/server.go", "pgtaskd/server/servertest", true},
		{"server/tasktest/table.go", "pgtaskd/server/servertest", false},
		{"server/tasktest/table.go", "pgtaskd/sql", false},
		{"server/servertest/conn.go", "pgtaskd/work", true},
		{"server/server.go", "pgtaskd/sql", true},
		{"exec/run.go", "pgtaskd/bench", true},
		{"work/run.go", "github.com/jackc/pgx/v5/pgproto3", true},
		{"work/wake/stream.go", "github.com/jackc/pglogrepl", false},
		{"work/loop.go", "github.com/jackc/pglogrepl", true},
		{"work/wakeful/stream.go", "github.com/jackc/pglogrepl", true},
		{"work/loop.go", "pgtaskd/work/wake", false},
		{"work/wake/stream.go", "pgtaskd/exec", false},
		{"work/wake/stream.go", "pgtaskd/work", true},
		{"work/wake/stream.go", "pgtaskd/work/lane", true},
		{"work/wake/stream.go", "pgtaskd/conf", true},
		{"work/loop.go", "pgtaskd/work/lane", false},
		{"work/run/runner.go", "pgtaskd/work/lane", false},
		{"work/run/runner.go", "pgtaskd/work/pool", false},
		{"work/run/runner.go", "pgtaskd/work", true},
		{"work/pool/open.go", "pgtaskd/work/run", true},
		{"work/door/look.go", "pgtaskd/sql", false},
		{"work/door/look.go", "pgtaskd/work", true},
		{"work/door/look.go", "pgtaskd/conf", true},
		{"work/install/look.go", "pgtaskd/work/wake", false},
		{"work/install/look.go", "pgtaskd/work/run", true},
		{"work/lane/lanes.go", "container/heap", false},
		{"work/lane/lanes.go", "pgtaskd/work", true},
		{"work/lane/lanes.go", "pgtaskd/sql", true},
		{"work/lane/lanes.go", "github.com/jackc/pgx/v5", true},
		{"conf/read.go", "github.com/robfig/cron/v3", true},
		{"work/loop.go", "github.com/robfig/cron/v3", true},
		{"work/schedule/field.go", "github.com/robfig/cron/v3", false},
		{"work/schedule/field.go", "pgtaskd/exec", true},
		{"work/schedule/field.go", "pgtaskd/work/lane", true},
		{"conf/duration.go", "pgtaskd/work/schedule", false},
		{"exec/run.go", "pgtaskd/new", true},
		{"apply.go", "pgtaskd/apply", false},
		{"apply/write.go", "pgtaskd/sql", false},
		{"conf/read.go", "pgtaskd/apply", true},
		{"conf/read.go", "github.com/goccy/go-yaml/ast", true},
		{"web/site.go", "pgtaskd/work", false},
		{"conf/reload.go", "pgtaskd/web", true},
		{"conf/reload.go", "net/http", true},
	}
	for _, c := range cases {
		if why := refused(c.file, c.imported); (why != "") != c.refused {
			t.Errorf("%s imports %s: %q", c.file, c.imported, why)
		}
	}
}
