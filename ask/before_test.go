package ask

import (
	"context"
	"errors"
	"testing"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// TestATableOfTheVersionBefore: commands and the page read the columns that are there. Its triggers
// did not read the others either: here they do not fire.
func TestATableOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	target, table := made(t)
	for _, column := range []string{"owner", "priority", "overlap", "max_failures", "on_fail", "notify", "rerun"} {
		table.Exec("ALTER TABLE task DROP COLUMN " + column + " CASCADE")
	}
	table.Exec("INSERT INTO task (input, key, repeat, plan) VALUES ('SELECT 1', 'nightly', '1 day', 'infinity')")
	table.Exec("INSERT INTO task (input, after) VALUES ('SELECT 2', '{1}')")
	table.Exec("ALTER TABLE task DISABLE TRIGGER USER")
	s, all := people(), []work.Target{target}
	for what, err := range map[string]error{
		"ls":   List(t.Context(), s.Screen, all, Filter{}),
		"show": Show(t.Context(), s.Screen, all, 1),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if st := statuses(t.Context(), all, patient)[0]; st.Error != "" {
		t.Error(st.Error)
	}
	page := rows.New()
	defer page.Close()
	if err := page.Read(t.Context(), target, patient, func(ctx context.Context, b *rows.Table) error {
		_, _, _, err := b.Jobs(ctx, rows.Hidden{})
		_, tasks := b.Tasks(ctx, &rows.Filter{}, rows.Newest, nil, patient, patient)
		_, running := b.Running(ctx, rows.Hidden{})
		_, one := b.Task(ctx, 1, rows.Hidden{})
		_, lanes := b.Lanes(ctx, rows.Hidden{})
		_, _, failures := b.Failures(ctx, rows.Hidden{}, patient, 10)
		return errors.Join(err, tasks, running, one, lanes, failures)
	}); err != nil {
		t.Error(err)
	}
	for _, do := range []string{"pause", "resume", "run", "cancel", "again", "delete"} {
		if err := Act(t.Context(), s.Screen, all, do, nil, []int64{1}, nil); err != nil {
			t.Errorf("%s: %v", do, err)
		}
	}
	has(t, s.text(), "nightly")
}
