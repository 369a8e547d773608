package rows

import (
	"context"
	"testing"
)

// TestGroupsCountWhatWaitsAndRuns: with a row or without, and a prefix counts all that it limits.
func TestGroupsCountWhatWaitsAndRuns(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	const hostile = "pay-\u202e'\"<script>%_"
	tasks.Exec(`INSERT INTO task_group ("group", paused, until, slots, rate, per, note) VALUES ('pay-%', false, NULL, 2, 5, '90 s', $1), ('idle', true, 'infinity', NULL, NULL, NULL, NULL), ('oth%', true, NULL, NULL, NULL, NULL, NULL)`, hostile)
	tasks.Exec(`INSERT INTO task (input, "group") SELECT '', g FROM unnest(ARRAY[$1, 'pay-2', 'pay-%', 'other']) AS g`, hostile)
	tasks.Exec(`INSERT INTO task (input, "group", plan) VALUES ('', 'later', now() + interval '1 day')`)
	for _, group := range []string{"pay-2", "pay-3"} {
		tasks.Add(`input, "group", state, start`, "", group, "WORK", "2020-01-01")
	}
	groups := func(one, after string, most int) (all []Group) {
		return read(t, s, to, func(ctx context.Context, b *Table) ([]Group, error) { return b.Groups(ctx, one, after, most) })
	}
	all := map[string]Group{}
	for _, g := range groups("", "", 100) {
		all[g.Group] = g
	}
	if g := all["pay-%"]; g.Waiting != 3 || g.Running != 2 || !g.Full() || *g.Slots != 2 || *g.Rate != 5 || *g.Per != "00:01:30" || *g.Note != hostile || *g.ChangedBy == "" || !g.ChangedAt.Valid || g.InForce {
		t.Errorf("%+v", g)
	}
	if g := all["idle"]; !g.InForce || !*g.Paused || g.Waiting != 0 || g.Ends() != "infinity" || g.Full() {
		t.Errorf("%+v", g)
	}
	if g := all[hostile]; g.Waiting != 1 || g.Running != 0 || g.Paused != nil || g.Per != nil {
		t.Errorf("%+v", g)
	}
	if g := all["pay-2"]; g.Waiting != 1 || g.Running != 1 || g.PausedBy != nil || *all["other"].PausedBy != "oth%" || all["oth%"].PausedBy != nil || len(all) != 7 {
		t.Errorf("%+v of %+v", g, all)
	}
	if one := groups("pay-2", "", 100); len(one) != 1 || one[0].Group != "pay-2" {
		t.Errorf("%+v", one)
	}
	last, seen := "", 0
	for page := groups("", "", 2); len(page) > 0; page = groups("", last, 2) {
		seen += len(page)
		last = page[len(page)-1].Group
	}
	if seen != len(all) {
		t.Errorf("pages have %d groups", seen)
	}
}
