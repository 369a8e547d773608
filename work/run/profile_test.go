package run

import (
	"testing"
	"time"

	"pgtaskd/exec"
)

// TestProfileOfARemote: what runs there outside a transaction says nothing of whether its like
// write; only where they are known to, it makes that long ago.
func TestProfileOfARemote(t *testing.T) {
	t.Parallel()
	input := "SELECT 1"
	one := &Task{Row: Row{Remote: "other", Input: &input}}
	one.Examine()
	h := profiles{of: map[like]*profile{}}
	see := func(n int, atomic, wrote, firm, writes bool) {
		t.Helper()
		one.Atomic = atomic
		xact := int64(0)
		if wrote {
			xact = 1
		}
		for range n {
			h.saw(one, time.Millisecond, &exec.Result{Open: atomic, Xact: xact})
		}
		if h.depth(one) > 1 != firm || h.writes(one) != writes {
			t.Error(h.depth(one), h.writes(one))
		}
	}
	see(profileFirm, false, true, false, false)
	see(profileFirm-1, true, false, false, false)
	see(1, true, false, true, false)
	see(1, true, true, false, true)
	see(profileWrote-1, false, false, false, true)
	see(100, false, false, false, false)
	see(profileFirm-1, true, false, false, false)
	see(1, true, false, true, false)
}
