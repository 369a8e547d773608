package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Limits of the documents.
const (
	cellWords         = 30  // of a cell in the tables of docs/operations.md
	decisionWords     = 150 // of an entry in docs/decisions.md
	architectureLines = 200
)

// TestOperationsHasShortCells: operators read these tables while something is broken. Longer
// explanations belong below the table.
func TestOperationsHasShortCells(t *testing.T) {
	t.Parallel()
	const file = "docs/operations.md"
	for i, line := range strings.Split(read(t, file), "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, cell := range strings.Split(line, " | ") {
			if words := len(strings.Fields(strings.Trim(cell, "|"))); words > cellWords {
				t.Errorf("%s:%d: a cell has %d words, the most is %d: %s", file, i+1, words, cellWords, cell)
			}
		}
	}
}

// TestArchitectureIsShort: every newcomer reads all of it.
func TestArchitectureIsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(read(t, "docs/architecture.md"), "\n"); lines > architectureLines {
		t.Errorf("docs/architecture.md has %d lines, the most is %d", lines, architectureLines)
	}
}

// TestArchitectureNamesWhatIsThere: its folders, files and operations exist.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	paths := architecturePath.FindAllStringSubmatch(read(t, "docs/architecture.md"), -1)
	if len(paths) < 60 {
		t.Errorf("only %d paths", len(paths))
	}
	for _, path := range paths {
		if _, err := os.Stat(path[1]); err == nil {
			continue
		}
		if found, err := filepath.Glob("sql/*/" + path[1]); len(found) > 0 || err != nil {
			continue
		}
		if found, err := filepath.Glob("sql/schema/*/" + path[1]); len(found) == 0 || err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there (%v)", path[1], err)
		}
	}
}

// architecturePath matches a folder with a slash, or a file with its ending.
var architecturePath = regexp.MustCompile("`([a-z_]+(?:/[a-z_]+)*(?:/|\\.go|\\.sql|/[a-z_]+))`")

// TestDecisionsAreShort: each has its context, choice and cost, in at most as many words as the
// page says.
func TestDecisionsAreShort(t *testing.T) {
	t.Parallel()
	const file = "docs/decisions.md"
	for _, entry := range strings.Split(read(t, file), "\n## ")[1:] {
		title, text, _ := strings.Cut(entry, "\n")
		if words := len(strings.Fields(text)); words > decisionWords {
			t.Errorf("%s: %q has %d words, the most is %d", file, title, words, decisionWords)
		}
		for _, part := range []string{"\nContext: ", "\nChoice: ", "\nCost: "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q lacks its %s", file, title, strings.TrimSpace(part))
			}
		}
	}
}
