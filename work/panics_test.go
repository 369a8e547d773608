package work

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/work/judge"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// serveWith is serve with a look at each loop before it begins; the first is number 1.
func (s *stage) serveWith(begins func(number int, l *loop)) {
	s.t.Helper()
	s.beginWith(begins)
	s.settled()
}

// beginWith is the same, but does not wait until the table is served.
func (s *stage) beginWith(begins func(number int, l *loop)) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	s.stop, s.ended = make(chan struct{}), make(chan struct{})
	log := zerolog.New(s)
	number := 0
	sv := &service{target: s.target, trouble: &trouble{log: target.NewLog(log, s.target.TaskLog)}, panics: &judge.Panics{}, begins: func(l *loop) {
		number++
		begins(number, l)
	}}
	stop, ended := s.stop, s.ended
	go func() {
		defer close(ended)
		s.err = sv.serve(ctx, stop)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
		if s.t.Failed() {
			lines := strings.Split(s.logged(), "\n")
			s.t.Log(strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
	})
}

// TestPanicOfRunner: the task at which a runner panics FAILs at once, with an error that leads to
// the log, and without effects; what runs beside it is cut off and run again; all others go on.
func TestPanicOfRunner(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.serveWith(func(number int, l *loop) {
		if number == 1 {
			l.runs.Ran = func(one *run.Task) {
				if one.Row.Group == "bad" {
					panic("of a run")
				}
			}
		}
	})
	s.exec("CREATE TABLE effect (id int8)")
	beside := s.add(`input, "group"`, "SELECT pg_sleep(CASE WHEN current_setting('pg_task.attempt') = '1' THEN 8 ELSE 0 END); INSERT INTO effect VALUES (1)", "beside")
	s.becomes(beside, "WORK")
	bad := s.add(`input, "group"`, "SELECT 1", "bad")
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

// TestAskEndsWithLoop: who waits for a loop that has panicked does not wait for ever.
func TestAskEndsWithLoop(t *testing.T) {
	t.Parallel()
	l := newLoop(t.Context(), Target{Live: Live{Run: 1}}, target.NewLog(zerologNone, nil))
	l.crew.Go(func() {
		if l.inbox.Leads(l.crew.Context()) {
			t.Error("it was answered")
		}
	})
	<-l.inbox.Asked()
	_ = l.crew.Call(func() error { panic("nobody thought of this") })
	l.crew.Wait()
}
