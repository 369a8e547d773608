package smoke

import "testing"

// TestDelete: a row with nothing to show is deleted.
func TestDelete(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for _, input := range []string{"''", "'SELECT 1 WHERE false'", "'-- nothing'", "'COPY (SELECT 1 WHERE false) TO STDOUT'"} {
		id := u.add("input", input)
		u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1)", id)
	}
	u.becomes(u.add("input", "'SELECT pg_sleep(0)'"), "DONE")
	u.becomes(u.add("input", "'CREATE TEMP TABLE x ()'"), "DONE")
	u.becomes(u.add("input, delete", "'', false"), "DONE")
	u.becomes(u.add("input", "'DO $$ BEGIN RAISE division_by_zero; END $$'"), "FAIL")
	u.becomes(u.add("input, plan, active", "'', now() - interval '1 day', '1 hour'"), "GONE")
}

// TestDeleteAndRepeat: a repetition does not need its parent.
func TestDeleteAndRepeat(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat", `'', '1 day'`)
	u.until("SELECT NOT EXISTS (SELECT FROM task WHERE id = $1)", id)
	u.is("(SELECT state FROM task WHERE parent = $1)", "PLAN", id)
}
