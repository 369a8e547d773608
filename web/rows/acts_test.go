package rows

import (
	"context"
	"slices"
	"testing"
)

// TestActsSayHowFarTheyAre: newest first, without what is hidden.
func TestActsSayHowFarTheyAre(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	tasks.Exec(`INSERT INTO task_act (by, "do", filter, matched, done, data, error, stopped, ended) VALUES
		('ann', 'delete', '{"state": ["FAIL", "GONE"], "group": "<b>", "q": "secret"}', 10001, 500, NULL, NULL, NULL, NULL),
		('ann', 'run', NULL, 1, 0, 'secret', E'ERROR:  password=x\nSTATEMENT:  SELECT 1', NULL, now()),
		('bob', 'cancel', '{}', 10, 5, NULL, NULL, 'ann', now())`)
	acts := read(t, s, to, func(ctx context.Context, b *Table) ([]Done, error) {
		return b.Acts(ctx, Hidden{Data: true, Input: true}, 10)
	})
	if len(acts) != 3 {
		t.Fatal(acts)
	}
	if d := acts[2]; d.State() != "runs" || !d.Over() || d.Done != 500 || !slices.Equal(d.On(), [][2]string{{"group", "<b>"}, {"q", ""}, {"state", "FAIL GONE"}}) {
		t.Errorf("%+v", d)
	}
	if d := acts[1]; d.State() != "failed" || d.Data != nil || *d.Error != "ERROR:  password=***" || d.On() != nil {
		t.Errorf("%+v", d)
	}
	if d := acts[0]; d.State() != "stopped" || *d.Stopped != "ann" || d.Over() {
		t.Errorf("%+v", d)
	}
}
