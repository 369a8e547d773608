package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestJobsInFilesOfTheGuide runs the chapter's commands on its files, in order, and compares their
// output.
func TestJobsInFilesOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile("(?s)```yaml\n(.*?)```\n\n```sh\npgtaskd (.*?)\n```\n\n```text\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if len(steps) < 2 {
		t.Fatal("the guide has no jobs in files")
	}
	s := newShell(t)
	for _, step := range steps {
		file := s.write("jobs.yaml", step[1])
		command, _, _ := strings.Cut(step[2], " --config")
		args := append(strings.Fields(strings.Replace(command, "jobs.yaml", file, 1)), "--dsn", s.dsn)
		s.says(0, step[3], args...)
	}
}
