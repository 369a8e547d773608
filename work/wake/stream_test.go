package wake

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control/controltest"
)

// TestAStreamWithoutPublicationIsAnError: it does not become live.
func TestAStreamWithoutPublicationIsAnError(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	task := sql.Table{Schema: "public", Name: "task"}
	exec := func(statement string) {
		t.Helper()
		servertest.Exec(t, conn, statement)
	}
	publish := func() {
		t.Helper()
		tasktest.Make(t, conn, schema.Options{Wake: sql.WAL})
	}
	publish()
	_, served := controltest.Open(t, dsn)
	d, err := schema.Describe(t.Context(), conn, task)
	if err != nil {
		t.Fatal(err)
	}
	name := sql.Publication(task)
	for _, unpublish := range []string{" DROP TABLE task", " SET (publish = 'update')"} {
		exec("ALTER PUBLICATION " + name + unpublish)
		lost := &stream{published: d.Waking.Published, Config: Config{Target: served, Log: zerolog.Nop(), Poke: func() {}}}
		if err := lost.follow(t.Context()); err == nil || lost.lives() || !strings.Contains(err.Error(), "no longer publishes") {
			t.Errorf("live: %v, error: %v", lost.lives(), err)
		}
		exec("DROP PUBLICATION " + name)
		publish()
	}
}
