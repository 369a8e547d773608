package servertest

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// A condition is looked at again after a fiftieth of the time that it has been waited for, within
// these bounds: a short wait ends at once, and a long one costs little.
const (
	waitLeast = 5 * time.Millisecond
	waitMost  = 50 * time.Millisecond
	waitShare = 50
)

// Limit is how long something may take. On a machine that is slow or busy PGTASKD_SLOW=4 in the
// environment allows four times as long as elsewhere.
func Limit(limit time.Duration) time.Duration {
	if times, err := strconv.Atoi(os.Getenv("PGTASKD_SLOW")); err == nil && times > 1 {
		return time.Duration(times) * limit
	}
	return limit
}

// Wait waits until a condition holds, and fails the test when that takes longer than the limit, as
// Limit has it. report adds to the failure.
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

// Comes waits until a condition holds, and tells whether it has within the limit, as Limit has it.
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
