package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of size, so that a reader can keep the parts in mind. Tests do not count.
const (
	mostFields       = 20   // of a type
	mostMethods      = 30   // of a type
	mostPackageLines = 2500 // of a package, without the packages below it
	mostFileLines    = 300
	mostFuncLines    = 60 // of a function or a closure
)

// embedded are types that must not be embedded: the outer type would get everything they have.
var embedded = []string{"loop", "term", "Dispatcher"}

// TestBudgets measures all files except tests.
func TestBudgets(t *testing.T) {
	t.Parallel()
	m := measure(t)
	for _, name := range slices.Sorted(maps.Keys(m.sizes)) {
		if size := m.sizes[name]; size.is > size.most {
			t.Errorf("%s: %d, the budget is %d", name, size.is, size.most)
		}
	}
}

// size is a size, and its limit.
type size struct{ is, most int }

// measured holds all sizes by name.
type measured struct{ sizes map[string]size }

func (m *measured) add(name string, n, most int) {
	m.sizes[name] = size{m.sizes[name].is + n, most}
}

func measure(t *testing.T) *measured {
	m := &measured{sizes: map[string]size{}}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		return m.file(filepath.ToSlash(file))
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// file measures one file.
func (m *measured) file(file string) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	lines := files.File(parsed.Pos()).LineCount()
	m.add("lines of "+file, lines, mostFileLines)
	m.add("lines of "+path.Dir(file), lines, mostPackageLines)
	line := func(p token.Pos) int { return files.Position(p).Line }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				m.add("methods of "+path.Dir(file)+"."+named(n.Recv.List[0].Type), 1, mostMethods)
			}
			m.add(fmt.Sprintf("lines of function %s in %s", n.Name.Name, file), line(n.End())-line(n.Pos())+1, mostFuncLines)
		case *ast.FuncLit:
			m.add(fmt.Sprintf("lines of the closure at %s:%d", file, line(n.Pos())), line(n.End())-line(n.Pos())+1, mostFuncLines)
		case *ast.TypeSpec:
			if s, is := n.Type.(*ast.StructType); is {
				m.fields(file, n.Name.Name, s)
			}
		}
		return true
	})
	return nil
}

// fields counts the fields of a type, and reports the forbidden embedded types.
func (m *measured) fields(file, name string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		m.add("fields of "+path.Dir(file)+"."+name, max(len(f.Names), 1), mostFields)
		if len(f.Names) == 0 && slices.Contains(embedded, named(f.Type)) {
			m.add(fmt.Sprintf("%s: %s embeds a %s", file, name, named(f.Type)), 1, 0)
		}
	}
}

// named returns the name of a type, without its package and parameters.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return named(e.X)
	case *ast.IndexExpr:
		return named(e.X)
	case *ast.IndexListExpr:
		return named(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
