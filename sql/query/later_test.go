package query

import (
	"path/filepath"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// TestStatementsDoWithoutLaterColumns: a version before has made the table without them.
func TestStatementsDoWithoutLaterColumns(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, tasktest.Database(t))
	for _, column := range append(schema.Later(), "succeeded") {
		servertest.Exec(t, conn, "ALTER TABLE task DROP COLUMN IF EXISTS "+column+" CASCADE")
	}
	d := described(t, conn)
	if d.Absent["retry"] == "" {
		t.Fatal("it lacks ", d.Absent)
	}
	files, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".sql")
		if _, err := conn.Prepare(t.Context(), name, Of(d, task).Text(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
