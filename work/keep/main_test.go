package keep

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/control/controltest"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// table is a task table that nobody serves.
type table struct {
	tasktest.Table
	control *control.Control
	changes *change.Changer
	log     *target.Log
	logged  bytes.Buffer
}

// tableOf makes a task table, or completes the table that ddl makes.
func tableOf(t *testing.T, ddl string) *table {
	t.Helper()
	dsn := servertest.Database(t)
	if ddl != "" {
		if _, err := servertest.Connect(t, dsn).Exec(t.Context(), ddl, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	return tableAt(t, dsn)
}

// tableAt makes or completes the task table of a database.
func tableAt(t *testing.T, dsn string) *table {
	t.Helper()
	s := &table{Table: tasktest.Make(t, servertest.Connect(t, dsn), schema.Options{})}
	s.log = target.NewLog(zerolog.New(&s.logged), nil)
	c, served := controltest.Open(t, dsn)
	s.control = c
	s.changes = change.New(change.Config{Control: c, Holds: hold.NewHolds(), Log: s.log, Table: served.Relation()})
	return s
}
