package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
)

// limit is that of the command.
const limit = 900 * time.Millisecond

func status(t *testing.T, targets ...work.Target) ([]Status, error) {
	t.Helper()
	s := program()
	err := ShowStatus(t.Context(), s.Screen, targets, 20*limit)
	var all []Status
	for line := range strings.Lines(s.objects.String()) {
		var st Status
		if err := json.Unmarshal([]byte(line), &st); err != nil {
			t.Fatal(err, line)
		}
		all = append(all, st)
	}
	if len(all) != len(targets) {
		t.Fatal(s.text())
	}
	return all, err
}

// TestStatusTellsWhatIsDue: it counts tasks that wait, run or have failed, but not those planned
// for later or failed long ago.
func TestStatusTellsWhatIsDue(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, `INSERT INTO task (input, state, plan, stop) VALUES
		('', 'PLAN', now() - interval '1 minute', NULL), ('', 'PLAN', now() - interval '2 hours', NULL), ('', 'PLAN', now() + interval '1 hour', NULL),
		('', 'WORK', now() - interval '1 minute', NULL), ('', 'DONE', now(), now()),
		('', 'FAIL', now(), now() - interval '23 hours'), ('', 'FAIL', now(), now()), ('', 'FAIL', now(), now() - interval '25 hours')`)
	put(t, tasks.Conn, "INSERT INTO task (input, state, stopping) VALUES ('', 'STOP', true)")
	all, err := status(t, target)
	if !errors.Is(err, ErrFailed) {
		t.Error("nobody leads, and yet ", err)
	}
	st := all[0]
	if st.Leader != nil || st.Tasks == nil || st.Failed == nil || st.Error != "" {
		t.Fatalf("%+v", st)
	}
	if *st.Failed != (Failed{Count: 2}) || st.Tasks.Ready != 2 || st.Tasks.Running != 2 || st.Tasks.More || st.Tasks.Waits < 7200 {
		t.Errorf("%+v %+v", st.Tasks, st.Failed)
	}
	s := people()
	if err := ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.text(), target.Name(), "nobody leads", "2 h")
	if st.Oldest == nil || st.Oldest.ID != 2 || !strings.HasPrefix(st.Oldest.Why, "no controller leads the table") {
		t.Errorf("%+v", st.Oldest)
	}
}

// TestStatusTellsWhoLeads: by the lock and the sessions, without the table of controllers.
func TestStatusTellsWhoLeads(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	servertest.Exec(t, tasks.Conn, "DROP TABLE IF EXISTS task_leader; CREATE SEQUENCE task_leader") // which takes the name
	serve(t, target)
	var st Status
	servertest.Wait(t, patient, "a leader", func() bool {
		all, err := status(t, target)
		st = all[0]
		return err == nil && st.Leader != nil
	})
	if pid := servertest.Get(t, tasks.Conn, "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND pid = $1 LIMIT 1", st.Leader.PID); pid != fmt.Sprint(st.Leader.PID) {
		t.Error(st.Leader, pid)
	}
	serve(t, target)
	servertest.Wait(t, patient, "a follower", func() bool {
		all, err := status(t, target)
		st = all[0]
		return err == nil && len(st.Followers) == 1
	})
	if st.Followers[0].PID == st.Leader.PID {
		t.Error(st)
	}
}

const leaderTable = "CREATE TABLE task_leader (controller text PRIMARY KEY, leads bool, since timestamptz, seen timestamptz, host text, pid int4, version text, run int4, timezone text)"

// TestStatusReadsTheTableOfControllers: but only the holder of the lock leads, and a follower needs
// a session.
func TestStatusReadsTheTableOfControllers(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	servertest.Exec(t, tasks.Conn, "DROP TABLE IF EXISTS task_leader")
	servertest.Exec(t, tasks.Conn, leaderTable)
	servertest.Exec(t, tasks.Conn, `INSERT INTO task_leader VALUES
		('a', true, now() - interval '3 hours', now(), 'north', 11, 'v1', 32, 'UTC'), ('b', false, now() - interval '2 hours', now(), 'south', 12, 'v2', 32, 'UTC'),
		('c', false, now() - interval '2 hours', now() - interval '1 hour', 'west', 13, 'v2', 32, 'UTC'), ('d', false, now(), now() - interval '30 s', 'east', 14, 'v2', 32, 'UTC')`)
	all, _ := status(t, target)
	if st := all[0]; st.Leader != nil || len(st.Followers) != 0 {
		t.Errorf("%+v", st)
	}
	named := func(cfg *pgx.ConnConfig) { cfg.RuntimeParams["application_name"] = target.ControlName() }
	holder := servertest.Connect(t, target.Connect.String())
	servertest.Connect(t, target.Connect.String(), named)
	if leads, err := lock.Leadership(sql.Table{Schema: "public", Name: "task"}, false).Take(t.Context(), holder); err != nil || !leads {
		t.Fatal(leads, err)
	}
	all, err := status(t, target)
	st := all[0]
	if err != nil || st.Leader == nil || st.Leader.Host != "north" || st.Leader.Seconds < 3*3600 || st.Leader.Version != "v1" {
		t.Errorf("%+v %v", st, err)
	}
	if len(st.Followers) != 1 || st.Followers[0].Host != "south" || st.Followers[0].Process != 12 {
		t.Errorf("%+v", st)
	}
	s := people()
	if err := ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit); err != nil {
		t.Error(err)
	}
	has(t, s.out.String(), "north process 11", "(3 h", "south process 12")
	servertest.Exec(t, tasks.Conn, "DELETE FROM task_leader WHERE NOT leads")
	if all, err := status(t, target); err != nil || len(all[0].Followers) != 0 {
		t.Errorf("the leader's second session stands by: %+v %v", all[0], err)
	}
	servertest.Exec(t, tasks.Conn, "DELETE FROM task_leader")
	s = people()
	if err := ShowStatus(t.Context(), s.Screen, []work.Target{target}, 20*limit); err != nil {
		t.Error(err)
	}
	has(t, s.out.String(), fmt.Sprintf(" session pid %d", holder.PgConn().PID()))
}

// TestStatusDoesNotWaitForAServerThatIsAway: after the limit it shows the others, and says why this
// server is missing.
func TestStatusDoesNotWaitForAServerThatIsAway(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	tasks.Add("input", "SELECT 1")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	away := func(where string) work.Target { return single(t, where+" user=u sslmode=disable dbname=away") }
	targets := []work.Target{target, away(fmt.Sprintf("host=127.0.0.1 port=%d", silent.Addr().(*net.TCPAddr).Port)), away("host=127.0.0.1 port=1"), away("host=/nowhere")}
	for range 40 {
		targets = append(targets, targets[1])
	}
	s := people()
	began := time.Now()
	if err := ShowStatus(t.Context(), s.Screen, targets, 5*limit); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if took := time.Since(began); took > servertest.Limit(6*limit) {
		t.Error("it took ", took)
	}
	has(t, s.out.String(), target.Name()+"  nobody leads  -      -        1      0", "away/public/task", "unknown")
	has(t, s.err.String(), "away/public/task: no answer within 4.5 s", "refused", "/nowhere")
}

// TestStatusOfManyTargets: all in one database.
func TestStatusOfManyTargets(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	targets := []work.Target{target}
	for i := range 60 {
		other := target
		other.Table = fmt.Sprint("t", i)
		targets = append(targets, other)
	}
	if _, err := schema.Install(t.Context(), tasks.Conn, sql.Table{Schema: "public", Name: "t7"}, schema.Options{}); err != nil {
		t.Fatal(err)
	}
	tasktest.Table{T: t, Conn: tasks.Conn, Name: "t7"}.Add("input", "SELECT 1")
	all, err := status(t, targets...)
	if !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	for i, st := range all {
		missing := i != 0 && i != 8
		if missing != strings.Contains(st.Error, "is not there") || st.Target != targets[i].Name() || !missing && st.Tasks == nil {
			t.Errorf("%+v", st)
		}
	}
	if all[8].Tasks.Ready != 1 {
		t.Errorf("%+v", all[8].Tasks)
	}
}
