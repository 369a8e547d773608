package rows

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

const patience = 20 * time.Second

// made returns a target with its table, and sessions of the page.
func made(t *testing.T) (work.Target, tasktest.Table, *Sessions) {
	t.Helper()
	dsn := tasktest.Database(t)
	s := New()
	t.Cleanup(s.Close)
	return single(t, dsn), tasktest.Public(t, servertest.Connect(t, dsn)), s
}

func single(t *testing.T, dsn string) work.Target {
	t.Helper()
	one, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	one.Grace, one.Stats = 0, target.NewStats()
	return one
}

// serve serves the target until the test ends.
func serve(t *testing.T, to work.Target) {
	t.Helper()
	stop, ended := make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		ended <- work.Serve(ctx, stop, to, zerolog.Nop())
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
	})
}

// TestHeadsSayWhoLeadsAndWhatIsPaused: once nobody does, and then this process.
func TestHeadsSayWhoLeadsAndWhatIsPaused(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	head := func() Head { return s.Heads(t.Context(), []work.Target{to})[0] }
	to.Stats.Stands(target.Standing{Fault: "password=secret is wrong"})
	if h := head(); h.Leader != "" || h.Unread != "" || h.Here != "" || h.Fault != "password=*** is wrong" || len(h.Paused) > 0 || !h.At.Valid {
		t.Errorf("%+v", h)
	}
	const hostile = "g\u202e'\"<script>%"
	tasks.Exec(`INSERT INTO task_group ("group", paused, until, note) VALUES ($1, true, NULL, '<b>'), ('over', true, now() - interval '1 s', NULL), ('not', false, NULL, NULL)`, hostile)
	tasks.Exec(`INSERT INTO task (input, repeat, state) VALUES ('SELECT 1', '1 day', 'STOP'), ('SELECT 1', '1 day', 'PLAN'), ('SELECT 1', '0', 'STOP')`)
	serve(t, to)
	var h Head
	servertest.Wait(t, patience, "a leader", func() bool { h = head(); return h.Version != "" && len(h.Paused) > 0 })
	if !strings.Contains(h.Leader, " process ") || !h.Since.Valid || h.Here != "leads" || h.Fault != "" || h.LastFault != "password=*** is wrong" || !h.FaultAt.Valid {
		t.Errorf("%+v", h)
	}
	if p := h.Paused; len(p) != 1 || p[0].Group != hostile || *p[0].Note != "<b>" || p[0].By == nil || h.MorePaused || h.PausedJobs != 1 {
		t.Errorf("%+v", h)
	}
	tasks.Exec("DROP TABLE task")
	servertest.Wait(t, patience, "a reason", func() bool { return strings.Contains(head().Unread, "task") })
}

// TestHeadsCountWhatWaitsRunsAndFailed: what is planned for later does not wait yet.
func TestHeadsCountWhatWaitsRunsAndFailed(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	tasks.Exec(`INSERT INTO task (input, plan, state) SELECT '', now() - interval '1 s', 'PLAN' FROM generate_series(1, 3)`)
	tasks.Exec(`INSERT INTO task (input, plan) VALUES ('', 'infinity')`)
	tasks.Exec(`INSERT INTO task (input, state, start, stop) SELECT '', 'FAIL', now(), now() FROM generate_series(1, 2)`)
	tasks.Add("input, state, start", "", "WORK", "now")
	if h := s.Heads(t.Context(), []work.Target{to})[0]; h.Waiting != 3 || h.Running != 1 || h.Failed != 2 || h.Beyond {
		t.Errorf("%+v", h)
	}
}

// TestAServerThatDoesNotAnswerHoldsNobody: the other heads come, and it is asked once in a while.
func TestAServerThatDoesNotAnswerHoldsNobody(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	to, _, s := made(t)
	all := []work.Target{to}
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, single(t, "host=127.0.0.1 user=u dbname="+name+" port="+strconv.Itoa(silent.Addr().(*net.TCPAddr).Port)))
	}
	took := func() time.Duration {
		t.Helper()
		began := time.Now()
		found := s.Heads(t.Context(), all)
		if found[0].Unread != "" || !found[0].At.Valid || found[1].Unread == "" || found[3].Unread == "" {
			t.Errorf("%+v", found)
		}
		return time.Since(began)
	}
	began := time.Now()
	if err := s.Read(t.Context(), all[1], time.Second, func(context.Context, *Table) error { return nil }); err == nil || time.Since(began) > dialLimit+time.Second {
		t.Error("the first page waits ", time.Since(began), err)
	}
	if d := took(); d > headWait+time.Second {
		t.Error("the first time it took ", d)
	}
	servertest.Wait(t, patience, "the end of the attempt", func() bool { return strings.Contains(s.Heads(t.Context(), all)[3].Unread, "connect") })
	if d := took(); d > headWait/2 {
		t.Error("then it took ", d)
	}
	began = time.Now()
	err = s.Read(t.Context(), all[2], time.Second, func(context.Context, *Table) error { return nil })
	if d := time.Since(began); err == nil || d > headWait/2 {
		t.Error("a page waits ", d, err)
	}
}
