package smoke

import (
	"strings"
	"testing"

	"pgtaskd/server/programtest"
)

type program struct{ *programtest.Program }

func run(t *testing.T, args ...string) program {
	t.Helper()
	return program{programtest.Run(t, pgtaskd, args...)}
}

// says waits until the log has the text this many times.
func (p program) says(t *testing.T, text string, times int) {
	t.Helper()
	if !p.Says(patience, func(log string) bool { return strings.Count(log, text) >= times }) {
		t.Fatalf("pgtaskd has not said %q:\n%s", text, p.Log)
	}
}

// command runs pgtaskd to its end.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return programtest.Shell(t, stdin, pgtaskd, args...)
}
