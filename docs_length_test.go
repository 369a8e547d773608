package main_test

import (
	"strings"
	"testing"
)

// What a document may have at most.
const (
	cellWords         = 30 // of a cell in the tables of docs/operations.md
	architectureLines = 200
)

// TestOperationsHasShortCells: an operator reads its tables while something is broken. Longer
// explanations stand below them.
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
