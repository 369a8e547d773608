package smoke

import (
	"syscall"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// A drain gives the lead away at once, and what it runs goes on.
func TestADrainHandsTheLeadOverAtOnce(t *testing.T) {
	t.Parallel()
	first, second, u := pair(t)
	long := u.add(`input, "group"`, "'SELECT pg_sleep(6)', 'long'")
	u.becomes(long, "WORK")
	first.program.Signal(t, syscall.SIGTERM)
	ended := time.Now()
	next := u.add("input", "'SELECT 1'")
	second.says(t, `"leading"`, 1)
	u.becomes(next, "DONE")
	if took := time.Since(ended); took > servertest.Limit(3*time.Second) {
		t.Errorf("the next task ended after %v", took)
	}
	u.shows(u.becomes(long, "DONE"), "attempt", "1", "interrupted", "0")
}
