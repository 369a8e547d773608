package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// starts are the functions and types that start goroutines, by package; nil: the whole package. The
// go statement does, too.
var starts = map[string][]string{
	"context":                    {"AfterFunc"},
	"time":                       {"AfterFunc"},
	"sync":                       {"WaitGroup"},
	"golang.org/x/sync/errgroup": nil,
}

// TestRoutines: only package routine starts the program's goroutines; it waits for them and
// recovers their panics. Tests, and code that only tests and other programs use, are free.
func TestRoutines(t *testing.T) {
	t.Parallel()
	for _, folder := range order {
		if folder == "routine" {
			continue
		}
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && folder == "." && file != ".":
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for pos, what := range started(parsed) {
				t.Errorf("%s: %s starts a goroutine: only package routine may", files.Position(pos), what)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// started finds the places where a file starts goroutines.
func started(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	packages := map[string]string{} // by their names in the file
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		names, known := starts[imported]
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if known && (names == nil || name == ".") {
			found[spec.Pos()] = imported
		}
		packages[name] = imported
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			found[n.Pos()] = "go"
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && slices.Contains(starts[packages[of.Name]], n.Sel.Name) {
				found[n.Pos()] = of.Name + "." + n.Sel.Name
			}
		}
		return true
	})
	return found
}

func TestRoutinesAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]int{
		`func f() { go f() }`:                                               1,
		`func f() { for { go func() {}() } }`:                               1,
		`import "time"; var f = time.AfterFunc`:                             1,
		`import clock "time"; func f() { clock.AfterFunc(0, nil) }`:         1,
		`import . "time"; func f() { AfterFunc(0, nil) }`:                   1,
		`import "context"; func f() { context.AfterFunc(nil, nil) }`:        1,
		`import "sync"; type t struct { w sync.WaitGroup; m sync.Mutex }`:   1,
		`import "golang.org/x/sync/errgroup"; var g errgroup.Group`:         1,
		`import "time"; func f() { time.After(0) }`:                         0,
		`import "pgtaskd/routine"; func f(g *routine.Group) { g.Go(f) }`:    0,
		`func f() { defer f() }`:                                            0,
		`type time struct{}; func (t time) f() { var x time; x.AfterFunc }`: 0,
	}
	for source, want := range cases {
		parsed, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a; "+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(source, err)
		}
		if found := started(parsed); len(found) != want {
			t.Errorf("%s: found %v", source, found)
		}
	}
}
