package sql

import (
	"slices"
	"testing"
)

// TestGeneratedColumnOfAnEarlierSchema is made again, with its index: tasks that wait for others
// would be due else.
func TestGeneratedColumnOfAnEarlierSchema(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input) VALUES (''); INSERT INTO task (input, after) VALUES ('', '{1}')")
	execute(t, conn, "ALTER TABLE task DROP COLUMN due, ADD COLUMN due timestamptz GENERATED ALWAYS AS (CASE WHEN state = ANY ('{PLAN,TAKE,WORK}') THEN plan END) STORED; "+
		"CREATE INDEX mine ON task (due, id) WHERE due IS NOT NULL OR stopping")
	var made []string
	for _, change := range install(t, conn, task, nil) {
		made = append(made, change.What)
	}
	if !slices.Contains(made, "column due") || !slices.Contains(made, "index on due, id") {
		t.Error(made)
	}
	complete(t, conn, task, nil)
	equal(t, "due", value(t, conn, "SELECT concat_ws(' ', due = plan, (SELECT due FROM task WHERE id = 2)) FROM task WHERE id = 1"), "t -infinity")
}
