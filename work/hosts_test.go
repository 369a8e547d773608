package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestOfSeveralHostsThePrimaryIsServed, whichever stands first. Tasks run there, too, and on a remote
// that leaves the hosts out. Without a primary, the target waits for one.
func TestOfSeveralHostsThePrimaryIsServed(t *testing.T) {
	t.Parallel()
	primary := servertest.New(t, server.Options{})
	standby := servertest.Standby(t, primary)
	hosts := func(first, second *server.Server) string {
		return fmt.Sprintf("host=%s,%s port=%d,%d user=postgres dbname=postgres", first.SocketDir, second.SocketDir, first.Port, second.Port)
	}
	for i, dsn := range []string{hosts(standby, primary), hosts(primary, standby), hosts(standby, primary) + " load_balance_hosts=random"} {
		s := stageOn(t, primary.DSN("postgres"))
		s.target = targetOf(t, dsn)
		s.target.Table = fmt.Sprint("task", i)
		s.serve()
		s.settled()
		for _, remote := range []string{"NULL", "'application_name=away'"} {
			s.exec("INSERT INTO " + s.target.Table + " (remote, input) VALUES (" + remote + ", 'CREATE TEMP TABLE here ()')")
		}
		s.eventually("2", "SELECT count(*) FROM "+s.target.Table+" WHERE state = 'DONE'")
	}
	for _, dsn := range []string{standby.DSN("postgres"), hosts(standby, standby)} {
		report := Check(t.Context(), targetOf(t, dsn))
		if len(report.Faults) != 1 || !strings.HasPrefix(report.Faults[0], "the server is in recovery: it takes no writes until it is promoted") {
			t.Errorf("%s: %q", dsn, report.Faults)
		}
	}
}
