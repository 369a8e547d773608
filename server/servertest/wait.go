package servertest

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Wait looks at a condition again after a fiftieth of the time waited so far, within these bounds:
// a short wait ends at once, and a long one costs little.
const (
	waitLeast = 5 * time.Millisecond
	waitMost  = 50 * time.Millisecond
	waitShare = 50
)

// Limit is how long something may take. PGTASKD_SLOW=4 in the environment allows four times as
// long, for slow or busy machines.
func Limit(limit time.Duration) time.Duration {
	if times, err := strconv.Atoi(os.Getenv("PGTASKD_SLOW")); err == nil && times > 1 {
		return time.Duration(times) * limit
	}
	return limit
}

// Wait waits until a condition holds, and fails the test if that takes longer than Limit(limit).
// report adds to the failure.
func Wait(t testing.TB, limit time.Duration, what string, done func() bool, report ...func() string) {
	t.Helper()
	if Comes(limit, done) {
		return
	}
	t.Errorf("waited %v in vain: %s", Limit(limit), what)
	for _, report := range report {
		t.Log(report())
	}
	t.FailNow()
}

// Comes waits until a condition holds, at most Limit(limit), and tells whether it does.
func Comes(limit time.Duration, done func() bool) bool {
	limit = Limit(limit)
	began := time.Now()
	end := time.After(limit)
	for !done() {
		select {
		case <-time.After(min(max(time.Since(began)/waitShare, waitLeast), waitMost)):
		case <-end:
			return false
		}
	}
	return true
}
