package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each package has a doc.go that says what it is.
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
