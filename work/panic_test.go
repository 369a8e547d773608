package work

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/exec/text"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// panicsAtBad panics when a task of the group "bad" has run and written.
type panicsAtBad struct{ run.Leader }

func (p panicsAtBad) Prepare(ctx context.Context, t *run.Task, what run.Preparation) (run.Prepared, *text.Failure) {
	if t.Row.Group == "bad" {
		panic("of a run")
	}
	return p.Leader.Prepare(ctx, t, what)
}

// TestATaskWhoseRunnerPanicsFails: the task whose runner panics FAILs at once, without effects, and
// its error refers to the log. Runs beside it are cut off and run again. All other tasks go on.
func TestATaskWhoseRunnerPanicsFails(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.serveWith(func(number int, l *loop) {
		if number == 1 {
			l.runs.Leader = panicsAtBad{l.inbox}
		}
	})
	s.exec("CREATE TABLE effect (id int8)")
	beside := s.add(`input, "group"`, "SELECT pg_sleep(CASE WHEN current_setting('pg_task.attempt') = '1' THEN 8 ELSE 0 END); INSERT INTO effect VALUES (1)", "beside")
	s.becomes(beside, "WORK")
	bad := s.add(`input, "group"`, "INSERT INTO effect VALUES (2)", "bad")
	s.becomes(bad, "FAIL")
	s.becomes(beside, "DONE")
	want := `{"error":"ERROR:  task was interrupted\nDETAIL:  pgtaskd met an internal error while it ran; its log has the details. It is not run again, as that would happen again.","sqlstate":"XX000","attempt":1,"interrupted":1}`
	if row := s.row(bad, "error, sqlstate, attempt, interrupted"); row != want {
		t.Errorf("the task is %s", row)
	}
	if row := s.row(beside, "attempt, interrupted"); row != `{"attempt":2,"interrupted":1}` {
		t.Errorf("the one beside it is %s", row)
	}
	if n := s.get("SELECT count(*) FROM effect"); n != "1" {
		t.Errorf("%s effects", n)
	}
	log := s.logged()
	if n := strings.Count(log, `"level":"error"`); n != 1 || !strings.Contains(log, "panic: of a run") || !strings.Contains(log, "run.go") {
		t.Errorf("%d errors logged: %s", n, log)
	}
	if id := s.add("input", "SELECT 1"); true {
		s.becomes(id, "DONE")
	}
	s.drain()
}

// TestNobodyWaitsForALoopThatHasPanicked: a runner that asks the loop gets an answer.
func TestNobodyWaitsForALoopThatHasPanicked(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), newService(Target{Live: target.Live{Run: 1}}, zerologNone))
	l.crew.Go(func() {
		if l.inbox.Leads(l.crew.Context()) {
			t.Error("it was answered")
		}
	})
	<-l.inbox.Asked()
	_ = l.crew.Call(func() error { panic("nobody thought of this") })
	l.crew.Wait()
}

// panicky is a log that panics at the first line that says "leading".
type panicky struct {
	*stage
	done atomic.Bool
}

func (p *panicky) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"leading"`)) && !p.done.Swap(true) {
		panic("nobody thought of this")
	}
	return p.stage.Write(line)
}

// TestAPanicIsLoggedAndTheTargetGoesOn: the panic happens in the loop.
func TestAPanicIsLoggedAndTheTargetGoesOn(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	stop, ended := make(chan struct{}), make(chan error)
	go func() { ended <- Serve(t.Context(), stop, s.target, zerolog.New(&panicky{stage: s})) }()
	s.settled()
	s.others()
	if log := s.logged(); !strings.Contains(log, "panic: nobody thought of this") || !strings.Contains(log, `"stack":"goroutine`) {
		t.Errorf("logged %s", log)
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
