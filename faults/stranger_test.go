package faults

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// TestStranger: somebody who may connect, and nothing else, holds the locks of a target. It is
// served all the same.
func TestStranger(t *testing.T) {
	t.Parallel()
	s := prepare(t, servertest.Server(t), nil)
	s.exec("CREATE ROLE $n_stranger LOGIN")
	conn := servertest.Connect(t, s.server.DSN(s.name)+" user="+s.name+"_stranger")
	public := sql.Table{Schema: "public", Name: "task"}
	for _, k := range []*sql.Lock{sql.Leadership(public, false), sql.Schema(public)} {
		if err := k.Try(t.Context(), conn); err != nil || !k.Held() {
			t.Fatal(k.Held(), err)
		}
	}
	c := serve(t, s)
	s.says(passedOver)
	s.load(20)
	s.endWell()
	if said := s.checked(); strings.Count(said, passedOver) != 2 || !strings.Contains(said, s.name+"_stranger") {
		t.Errorf("check says %q", said)
	}
	c.beside.check()
}
