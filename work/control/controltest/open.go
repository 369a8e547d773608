package controltest

import (
	"testing"

	"pgtaskd/remote"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Open opens a control connection to the existing table public.task of a database. The end of the
// test closes it.
func Open(t testing.TB, dsn string) (*control.Control, target.Target) {
	t.Helper()
	settings, err := remote.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	served := target.Target{Connect: settings, Admin: settings, Schema: "public", Table: "task"}
	c := control.New(served, nil)
	if err := c.Open(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	described, err := schema.Describe(t.Context(), c.Conn(), served.Relation())
	if err != nil {
		t.Fatal(err)
	}
	c.Describe(described)
	return c, served
}
