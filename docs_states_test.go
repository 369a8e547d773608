package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPromisesAreTried: in the tables of docs/states.md, docs/reference.md and docs/security.md,
// each row names a test. All tests that these documents name exist.
func TestPromisesAreTried(t *testing.T) {
	t.Parallel()
	tests := testFiles(t)
	for file, promises := range map[string][]string{
		"docs/states.md":    tableAfter(t, "docs/states.md", "| from | to | by | tried in |"),
		"docs/reference.md": tableAfter(t, "docs/reference.md", "| statement | promise | `atomic` |"),
		"docs/security.md":  tableAfter(t, "docs/security.md", "| who has | can | can not (tests) |"),
	} {
		for _, promise := range promises {
			if !testName.MatchString(promise) {
				t.Errorf("%s: no test: %s", file, promise)
			}
		}
		for _, name := range testName.FindAllStringSubmatch(read(t, file), -1) {
			if !declared(tests, name[1], strings.ReplaceAll(name[2], "_", " ")) {
				t.Errorf("%s: there is no %s", file, name[0])
			}
		}
	}
}

// TestStatesNameOperations: the operations and triggers in docs/states.md exist, and no operation
// that changes a task is missing there.
func TestStatesNameOperations(t *testing.T) {
	t.Parallel()
	states := read(t, "docs/states.md")
	for _, name := range operationName.FindAllStringSubmatch(states, -1) {
		if _, err := os.Stat(filepath.Join("sql", "query", name[1])); err != nil {
			t.Error(err)
		}
	}
	triggers := read(t, "sql/schema/triggers.sql")
	for _, name := range triggerName.FindAllStringSubmatch(states, -1) {
		if !strings.Contains(triggers, "CREATE TRIGGER "+name[1]+" ") {
			t.Errorf("there is no trigger %s", name[1])
		}
	}
	paths, err := filepath.Glob("sql/query/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := filepath.Base(path); changes.MatchString(read(t, path)) && !strings.Contains(states, "`"+name+"`") {
			t.Errorf("docs/states.md does not name %s", name)
		}
	}
}

var (
	testName      = regexp.MustCompile(`\b(Test[A-Z]\w+)(?:/(\w+))?`)
	operationName = regexp.MustCompile("`(\\w+\\.sql)`")
	triggerName   = regexp.MustCompile("`(pgtaskd_\\w+)`")
	changes       = regexp.MustCompile(`(UPDATE|INSERT INTO|DELETE FROM) :table`)
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tableAfter returns the rows below the head of a table.
func tableAfter(t *testing.T, file, head string) []string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, file), "\n"+head+"\n")
	rows, _, _ := strings.Cut(rest, "\n\n")
	if !found {
		t.Fatalf("%s: there is no table %s", file, head)
	}
	return strings.Split(rows, "\n")[1:]
}

// testFiles returns the texts of all test files.
func testFiles(t *testing.T) (texts []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.go") {
			texts = append(texts, read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// declared reports whether a test exists, and its file contains the name as a case.
func declared(texts []string, test, name string) bool {
	for _, text := range texts {
		if strings.Contains(text, "func "+test+"(") && (name == "" || strings.Contains(text, `"`+name+`"`)) {
			return true
		}
	}
	return false
}
