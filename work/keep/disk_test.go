//go:build slow

package keep

import (
	"fmt"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/work/target"
)

// TestTheDiskIsLookedAtWithinTheLimitOfTheRole: the check works with a low temp_file_limit too.
func TestTheDiskIsLookedAtWithinTheLimitOfTheRole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	own := servertest.New(t, server.Options{})
	for _, limit := range []string{"-1", "7MB", "128kB", "1kB", "0"} {
		conn := servertest.Connect(t, own.DSN("postgres"))
		servertest.Exec(t, conn, "ALTER ROLE postgres SET temp_file_limit TO '"+limit+"'")
		s := tableAt(t, own.DSN("postgres"))
		disk := &Disk{Control: s.control, Log: s.log, Stats: target.NewStats()}
		if err := disk.write(t.Context()); err != nil {
			t.Errorf("a limit of %s: %v", limit, err)
		}
		_, room := servertest.FullDisk(t, s.Conn, fmt.Sprint(s.control.Conn().PgConn().PID()))
		if err := disk.write(t.Context()); limit != "0" && limit != "1kB" && !fault.Has(err, "53100") {
			t.Errorf("a limit of %s, with a full disk: %v", limit, err)
		}
		room()
	}
}
