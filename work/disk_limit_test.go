//go:build slow

package work

import (
	"fmt"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestTheDiskIsLookedAtWithinTheLimitOfTheRole: a role that may have few temporary files learns all
// the same that there is no room for them.
func TestTheDiskIsLookedAtWithinTheLimitOfTheRole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	own := servertest.New(t, server.Options{})
	s := stageOn(t, own.DSN("postgres"))
	for _, limit := range []string{"-1", "7MB", "128kB", "1kB", "0"} {
		s.exec("ALTER ROLE postgres SET temp_file_limit TO '" + limit + "'")
		l := s.installed()
		if err := l.tryDisk(t.Context()); err != nil {
			t.Errorf("a limit of %s: %v", limit, err)
		}
		_, room := servertest.FullDisk(t, s.conn, fmt.Sprint(l.control.Conn().PgConn().PID()))
		if err := l.tryDisk(t.Context()); limit != "0" && limit != "1kB" && !fault.Has(err, "53100") {
			t.Errorf("a limit of %s, with a full disk: %v", limit, err)
		}
		room()
	}
}
