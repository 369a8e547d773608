package judge

import (
	"testing"

	"pgtaskd/exec"
)

// TestJudgeAt: DONE only where the transaction was prepared; PLAN only where it certainly is not.
func TestJudgeAt(t *testing.T) {
	t.Parallel()
	const (
		place, later, lower, most = "7/5/00000009", "7/5/0000000A", "7/5/00000008", "7/5/FFFFFFFF"
		server, database, standby = "8/5/00000009", "7/6/00000009", ""
		waits                     = exec.InProgress // as a verdict: ask again
	)
	for _, c := range []struct {
		at                                             string
		committed, aborted, future, forgotten, running exec.Status
	}{
		{place, exec.Committed, exec.Aborted, exec.Aborted, untold, waits},
		{later, untold, exec.Aborted, exec.Aborted, untold, waits},
		{most, untold, exec.Aborted, exec.Aborted, untold, waits},
		{server, untold, untold, untold, untold, waits},
		{database, untold, untold, untold, untold, waits},
		{lower, waits, waits, waits, waits, waits},
		{standby, waits, waits, waits, waits, waits},
	} {
		for status, want := range map[exec.Status]exec.Status{
			exec.Committed: c.committed, exec.Aborted: c.aborted, exec.Future: c.future, exec.Forgotten: c.forgotten, exec.InProgress: c.running,
		} {
			v, ok := judgeAt(place, c.at, status)
			if !ok {
				v.status = waits
			}
			if v.status != want || (v.reason != "") != (want == untold) {
				t.Errorf("%q at %q: %q (%s), want %q", status, c.at, v.status, v.reason, want)
			}
		}
	}
}
