package conf

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

func TestRunStartsAndDrains(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}, {"data": "b"}]`))
	runs := s.begin("a/public/task", "b/public/task")
	close(s.stop)
	for _, run := range runs {
		run.drains(t)
	}
	runs["a/public/task"].result <- nil
	s.says("target stopped")
	select {
	case err := <-s.ended:
		t.Fatalf("ended with %v before all was drained", err)
	default:
	}
	runs["b/public/task"].result <- nil
	s.finish(nil)
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}, {"data": "b"}]`))
	s.begin("a/public/task", "b/public/task")
	s.cancel()
	s.finish(context.Canceled)
}

// TestRunCutsDrainShort: as a second signal does.
func TestRunCutsDrainShort(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}]`))
	run := s.begin("a/public/task")["a/public/task"]
	close(s.stop)
	run.drains(t)
	s.cancel()
	s.finish(context.Canceled)
}

func TestRunFailsAtFirst(t *testing.T) {
	t.Parallel()
	options := Options{Stop: make(chan struct{})}
	var faults Faults
	if err := Run(t.Context(), file(t, "[{]"), zerolog.Nop(), options); !errors.As(err, &faults) {
		t.Errorf("error is %v, not Faults", err)
	}
	if err := Run(t.Context(), t.TempDir(), zerolog.Nop(), options); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("error is %v, not that it is a folder", err)
	}
}

func TestRunReportsFailedDrain(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}]`))
	run := s.begin("a/public/task")["a/public/task"]
	close(s.stop)
	run.drains(t)
	run.result <- errors.New("lost")
	s.says("target failed while draining: lost")
	s.finish(nil)
}

func TestReloadChangesWhatDiffers(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "gone"}, {"data": "changed"}, {"data": "kept"}]`))
	runs := s.begin("gone/public/task", "changed/public/task", "kept/public/task")
	s.write(`[{"data": "kept"}, {"data": "changed", "reset": "7 s"}, {"data": "new"}]`)
	runs["gone/public/task"].drains(t)
	runs["changed/public/task"].drains(t)
	s.begin("new/public/task") // the old loop of the changed target still drains, so its new one has not started

	runs["changed/public/task"].result <- nil
	if run := s.begin("changed/public/task")["changed/public/task"]; run.target.Reset != 7*time.Second {
		t.Errorf("the changed target looks every %s", run.target.Reset)
	}
	runs["gone/public/task"].result <- nil
	runs["kept/public/task"].goesOn(t)
}

// TestReloadWithoutADrain: the running loop gets the settings that need no drain.
func TestReloadWithoutADrain(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}, {"data": "b"}]`))
	runs := s.begin("a/public/task", "b/public/task")
	for _, settings := range []string{`"run": 7`, `"sleep": 7`, `"idle": "7 s"`, `"grace": "7 s"`, `"output_limit": 7`, `"output_over": "fail"`} {
		s.write(`[{"data": "a", ` + settings + `}, {"data": "b"}]`)
		await(t, runs["a/public/task"].target.Changes.Poked(), "a change of "+settings)
	}
	runs["a/public/task"].goesOn(t)
	runs["b/public/task"].goesOn(t)
	s.write(`[{"data": "a", "run": 8, "reset": "1 s"}, {"data": "b"}]`)
	runs["a/public/task"].drains(t)
	runs["a/public/task"].result <- nil
	if run := s.begin("a/public/task")["a/public/task"]; run.target.Run != 8 || run.target.Reset != time.Second {
		t.Errorf("%+v", run.target)
	}
	runs["b/public/task"].goesOn(t)
}

// TestReloadChangesItsMind: the last wanted targets count when a drain ends.
func TestReloadChangesItsMind(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}, {"data": "b"}]`))
	runs := s.begin("a/public/task", "b/public/task")
	s.write(`[{"data": "b", "reset": "2 s"}]`)
	runs["a/public/task"].drains(t)
	runs["b/public/task"].drains(t)
	s.says("draining target")
	s.write(`[{"data": "a", "reset": "3 s"}]`)
	s.says("configuration loaded")

	runs["a/public/task"].result <- nil
	if run := s.begin("a/public/task")["a/public/task"]; run.target.Reset != 3*time.Second {
		t.Errorf("a looks every %s", run.target.Reset)
	}
	runs["b/public/task"].result <- nil
	s.says("target stopped")
}

func TestDrainWhileAnotherChanges(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}, {"data": "b"}]`))
	runs := s.begin("a/public/task", "b/public/task")
	s.write(`[{"data": "a", "reset": "2 s"}, {"data": "b"}]`)
	runs["a/public/task"].drains(t)
	close(s.stop)
	runs["b/public/task"].drains(t)
	runs["a/public/task"].result <- nil // does not start again: begin would have to take it
	runs["b/public/task"].result <- nil
	s.finish(nil)
}

// TestBrokenFileChangesNothing: all its faults are logged, and a good file mends it.
func TestBrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}]`))
	run := s.begin("a/public/task")["a/public/task"]
	s.write(`[{"data": 1}, {"sleep": "fast"}]`)
	s.says("targets[0].data: must be a string, not 1")
	s.says("targets[1].sleep: must be")
	s.says("keeping the previous configuration")
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	s.says("cannot read the configuration")
	run.goesOn(t)
	s.write(`[{"data": "a"}, {"data": "b"}]`)
	s.begin("b/public/task")
	run.goesOn(t)
}

// TestSignalReadsAgain: also a file that has not changed; the log says so.
func TestSignalReadsAgain(t *testing.T) {
	t.Parallel()
	s := open(t, file(t, `[{"data": "a"}]`))
	run := s.begin("a/public/task")["a/public/task"]
	s.says("configuration loaded")
	s.reload <- syscall.SIGHUP
	s.says("configuration loaded")
	run.goesOn(t)
}

func TestLogIsTold(t *testing.T) {
	t.Parallel()
	path := file(t, `{"log": {"level": "debug"}, "targets": []}`)
	levels := make(chan Log, 10)
	stop := make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- Run(t.Context(), path, zerolog.Nop(), Options{Stop: stop, Log: func(l Log) { levels <- l }})
	}()
	if level := await(t, levels, "the first"); level != (Log{zerolog.DebugLevel, "", "fail"}) {
		t.Errorf("level is %v", level)
	}
	replace(t, path, `{"log": {"level": "error", "format": "journal", "tasks": "none"}, "targets": []}`)
	if level := await(t, levels, "the second"); level != (Log{zerolog.ErrorLevel, "journal", "none"}) {
		t.Errorf("level is %v", level)
	}
	close(stop)
	if err := await(t, ended, "the end"); err != nil {
		t.Error(err)
	}
}

func TestRunTargets(t *testing.T) {
	t.Parallel()
	target, err := Single("host=h user=u dbname=d")
	if err != nil {
		t.Fatal(err)
	}
	stop, served, ended := make(chan struct{}), make(chan string), make(chan error)
	serve := func(_ context.Context, stop <-chan struct{}, t work.Target, _ zerolog.Logger) error {
		served <- t.Name()
		<-stop
		return nil
	}
	go func() {
		ended <- RunTargets(t.Context(), []work.Target{target}, zerolog.Nop(), Options{Serve: serve, Stop: stop})
	}()
	if name := await(t, served, "the target"); name != "d/public/task" {
		t.Errorf("served %s", name)
	}
	close(stop)
	if err := await(t, ended, "the end"); err != nil {
		t.Error(err)
	}
}

// TestPanicOfTarget: a panic in a target's loop is logged, and the target is served again after a
// while. Other targets go on.
func TestPanicOfTarget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		stop, began := make(chan struct{}), time.Now()
		served := map[string][]time.Duration{}
		var mu sync.Mutex
		serve := func(_ context.Context, stop <-chan struct{}, target work.Target, _ zerolog.Logger) error {
			mu.Lock()
			served[target.Table] = append(served[target.Table], time.Since(began))
			first := len(served[target.Table]) == 1
			mu.Unlock()
			if target.Table == "odd" && first {
				panic("nobody thought of this")
			}
			<-stop
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			ended <- RunTargets(t.Context(), []work.Target{{Table: "odd"}, {Table: "even"}}, zerolog.New(zerolog.SyncWriter(&log)), Options{Serve: serve, Stop: stop})
		}()
		time.Sleep(time.Minute)
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(served["even"]) != 1 || len(served["odd"]) != 2 || served["odd"][1] != rest {
			t.Errorf("served %v", served)
		}
		if text := log.String(); strings.Count(text, `"level":"error"`) != 1 || !strings.Contains(text, "nobody thought of this") || !strings.Contains(text, "supervise_test.go") {
			t.Errorf("logged %s", text)
		}
	})
}
