package faults

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// known are phrases of the log that other tests than TestFaults await, some in other folders.
var known = []string{promoted, starting, scarce, full, passedOver, "failed to connect", "target failed", "target recovered", "(SQLSTATE 53300)", "created column", "panic", "stack", "belongs to role"}

// What the log says of a standby, of a server that is not up, of tasks that fail on a full disk, of the leader on one, and of somebody who is in the way.
const (
	promoted   = "in recovery: it takes no writes until it is promoted"
	starting   = "(SQLSTATE 57P03)"
	scarce     = "tasks fail because the server is out of disk space or memory"
	full       = "tasks wait until there is room on the server's disk"
	passedOver = "has no right to the table and is ignored"
)

// TestDocs: what the documentation quotes from the log is what tests await there.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## When something is wrong\n")
	section, _, _ = strings.Cut(section, "\n## ")
	awaited := slices.Clone(known)
	for _, f := range faults {
		awaited = append(awaited, append(f.says, f.check)...)
	}
	rows := 0
	for line := range strings.Lines(section) {
		columns := strings.Split(line, " | ")
		if len(columns) != 4 || strings.HasPrefix(line, "| what") || strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(columns[1], -1) {
			phrase := strings.Trim(quoted, "`")
			if !slices.ContainsFunc(awaited, func(part string) bool { return strings.Contains(part, phrase) }) {
				t.Errorf("no test awaits %s", quoted)
			}
		}
	}
	if rows < 10 {
		t.Errorf("found only %d rows of the table", rows)
	}
}
