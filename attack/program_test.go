//go:build slow

package attack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/programtest"
)

// program is a running `pgtaskd run`.
type program struct{ *programtest.Program }

// run starts `pgtaskd run` until the test ends.
func run(t *testing.T, args ...string) program {
	t.Helper()
	return program{programtest.Run(t, pgtaskd, append([]string{"run"}, args...)...)}
}

func (p program) stop(t *testing.T) {
	t.Helper()
	if err := p.Drain(patience); err != nil {
		t.Error(err)
	}
}

type line struct{ Level, Target, Message, Leader, Error, Hint string }

func (l line) bad() bool { return l.Level == "warn" || l.Level == "error" }

func (l line) String() string { return fmt.Sprint(l.Message, ": ", l.Leader, l.Error, " / ", l.Hint) }

// lines returns the lines of a target, from a position in the log on.
func (p program) lines(target string, from int) (lines []line) {
	for text := range strings.Lines(p.Log.String()[from:]) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.Target == target {
			lines = append(lines, l)
		}
	}
	return lines
}

// says waits for a line of a target after a position in the log, and returns it; false if it does
// not come.
func (p program) says(target string, from int, limit time.Duration, right func(line) bool) (said line, is bool) {
	is = p.Says(limit, func(string) bool {
		for _, l := range p.lines(target, from) {
			if right(l) {
				said = l
				return true
			}
		}
		return false
	})
	return said, is
}

func leading(l line) bool { return l.Message == "leading" }
