package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// TestNothingStartsWhileTheDiskIsFull: only tasks that ran when this was found fail. Running tasks
// can be stopped meanwhile, and no waiting task is forgotten.
func TestNothingStartsWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	own := servertest.New(t, server.Options{})
	s := stageOn(t, own.DSN("postgres"))
	s.serve()
	s.settled()
	s.exec("CREATE FUNCTION work() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $f$BEGIN COPY (SELECT 1) TO '/dev/full'; END$f$")
	s.becomes(s.add("input", "SELECT work()"), "FAIL") // proves nothing yet
	s.others()

	control := s.get("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pgtaskd %'")
	tried, room := servertest.FullDisk(t, s.conn, control)
	runs := s.add(`input, "group"`, "SELECT pg_sleep(1000)", "runs")
	s.becomes(runs, "WORK")
	s.until("full", func() bool {
		s.becomes(s.add("input", "SELECT work()"), "FAIL", "PLAN")
		return strings.Contains(s.logged(), "disk is full")
	})
	var waiting []int64
	for i := range 20 {
		waiting = append(waiting, s.add(`input, "group", priority`, "SELECT work()", fmt.Sprint("waits ", i), i%2))
	}
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", runs)
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", runs)
	looks := tried()
	s.until("more looks", func() bool { return tried() > looks+1 })
	if n := s.get("SELECT count(*) FROM task WHERE id = ANY ($1) AND state = 'PLAN' AND attempt = 0", waiting); n != "20" {
		t.Errorf("only %s tasks wait", n)
	}
	room()
	s.exec("CREATE OR REPLACE FUNCTION work() RETURNS void LANGUAGE sql AS ''")
	for _, id := range waiting {
		s.becomes(id, "DONE")
	}
	s.until("room", func() bool { return strings.Contains(s.logged(), "there is room on the server's disk again") })
	if log := s.logged(); strings.Contains(log, "target failed") || s.leads() > 1 {
		t.Error(log)
	}
}
