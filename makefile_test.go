package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMakeHelp: make help has a line for every target.
func TestMakeHelp(t *testing.T) {
	t.Parallel()
	text := read(t, "Makefile")
	for _, target := range makeTargets(t) {
		if !regexp.MustCompile(`(?m)^` + target + `:.* ## \S`).MatchString(text) {
			t.Errorf("make help does not show %s", target)
		}
	}
}

// TestDocumentsNameMakeTargets: the Makefile has each target that a document names, and
// CONTRIBUTING.md names each target that tests or measures.
func TestDocumentsNameMakeTargets(t *testing.T) {
	t.Parallel()
	targets := makeTargets(t)
	for _, file := range documents(t) {
		for _, command := range makeCommand.FindAllStringSubmatch(read(t, file), -1) {
			if !slices.Contains(targets, command[1]) {
				t.Errorf("%s: the Makefile has no target %s", file, command[1])
			}
		}
	}
	contributing := read(t, "CONTRIBUTING.md")
	for _, target := range targets {
		if target != "help" && target != "clean" && !strings.Contains(contributing, "make "+target) {
			t.Errorf("CONTRIBUTING.md does not name make %s", target)
		}
	}
}

// makeCommand matches a call of make in code: between backquotes, or at the beginning of a line.
var makeCommand = regexp.MustCompile("(?m)(?:`|^ {4}|^)make ([a-z-]+)(?:$|[` ]+(?:$|#|[A-Z]+=|[^a-z]))")

// TestMakefileNamesTests: the tests that the Makefile selects by name exist.
func TestMakefileNamesTests(t *testing.T) {
	t.Parallel()
	tests := testFiles(t)
	for _, name := range testPicked.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		if !slices.ContainsFunc(tests, func(text string) bool { return strings.Contains(text, "func "+name[1]) }) {
			t.Errorf("there is no %s", name[1])
		}
	}
}

// testPicked matches a test in a pattern for go test -run.
var testPicked = regexp.MustCompile(`[\^(| ](Test[A-Z]\w+)`)

// makeTargets returns the targets for people: the first line of the Makefile.
func makeTargets(t *testing.T) []string {
	t.Helper()
	first, _, _ := strings.Cut(read(t, "Makefile"), "\n")
	targets := strings.Fields(strings.TrimPrefix(first, ".PHONY:"))
	if len(targets) < 2 {
		t.Fatalf("no targets in %q", first)
	}
	return targets
}
