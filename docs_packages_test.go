package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackagesAreDocumented: each package has a doc.go that describes it.
func TestPackagesAreDocumented(t *testing.T) {
	t.Parallel()
	folders := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") {
			folders[filepath.Dir(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "doc.go"))
		if err != nil || !packageComment.Match(text) {
			t.Errorf("%s lacks a doc.go with a comment on the package (%v)", folder, err)
		}
	}
}

var packageComment = regexp.MustCompile(`^// (Package|Command) `)

// TestWaysNameWhatIsThere: each function that docs/ways.md names is in the named file.
func TestWaysNameWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/ways.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := wayStep.FindAllStringSubmatch(string(text), -1)
	if len(steps) < 40 {
		t.Errorf("only %d steps", len(steps))
	}
	for _, step := range steps {
		function, file := step[1], step[2]
		code, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		declared := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(function) + `[(\[]|FUNCTION :schema\.` + regexp.QuoteMeta(function) + `\(`)
		if !declared.Match(code) {
			t.Errorf("%s is not declared in %s", function, file)
		}
	}
}

// wayStep matches a row of the tables: number, function, file.
var wayStep = regexp.MustCompile("(?m)^\\| [0-9]+ \\| `([^`]+)` \\| `([^`]+)` \\|")
