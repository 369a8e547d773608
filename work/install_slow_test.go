//go:build slow

package work

import (
	"strings"
	"testing"
)

// TestFunctionsOfAnotherVersionAreReplaced: the dsn's user owns them, and replaces them if the role
// may not. If nobody may, the table is served, and run and check report it.
func TestFunctionsOfAnotherVersionAreReplaced(t *testing.T) {
	t.Parallel()
	const old = "UPDATE pg_proc SET prosrc = prosrc || '-- of old' WHERE proname = 'pgtaskd_accept'"
	const is = "SELECT count(*) FROM pg_proc WHERE prosrc LIKE '%-- of old'"
	s, do := withRoles(t, false)
	s.serve()
	s.settled()
	s.drain()
	do(old)
	if said := Check(t.Context(), s.target); len(said.Faults) > 0 || !strings.Contains(strings.Join(said.Lines, " "), "would make again function pgtaskd_accept") {
		t.Errorf("check says %q and complains %q", said.Lines, said.Faults)
	}
	s.serve()
	s.eventually("0", is)
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	s.drain()

	do(old)
	const want = "what another version of pgtaskd or a dump has brought, and what may not be replaced: function pgtaskd_accept"
	for _, target := range []func(*Target){
		func(target *Target) { target.Admin = nil },
		func(target *Target) { target.Create = false },
	} {
		of := &stage{t: t, dsn: s.dsn, target: s.target, conn: s.conn}
		target(&of.target)
		if said := Check(t.Context(), of.target); len(said.Faults) > 0 || !strings.Contains(strings.Join(said.Lines, " "), want) {
			t.Errorf("check says %q and complains %q", said.Lines, said.Faults)
		}
		of.serve()
		of.says(want)
		of.becomes(of.add("input", "SELECT 1"), "DONE")
		of.drain()
	}
}
