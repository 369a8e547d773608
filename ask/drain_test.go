package ask

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work"
)

// drained drains targets as the command does.
func drained(t *testing.T, s *screen, until string, stop <-chan struct{}, targets ...work.Target) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patient)
	defer cancel()
	return Drain(ctx, s.Screen, targets, until, stop, func(ctx context.Context, stop <-chan struct{}) error {
		return conf.RunTargets(ctx, targets, zerolog.Nop(), conf.Options{Serve: work.Serve, Stop: stop})
	})
}

// TestDrainRunsWhatIsDue: and the tasks that those insert, but neither later nor paused tasks.
func TestDrainRunsWhatIsDue(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, "INSERT INTO task (input, state, start, stop, error) VALUES ('', 'FAIL', now(), now(), 'before')")
	for range 50 {
		tasks.Add("input", "INSERT INTO task (input) VALUES ('SELECT pg_sleep(0.1)')")
	}
	later := tasks.Add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
	paused := tasks.Add("input, state", "SELECT 1", "STOP")
	s := people()
	if err := drained(t, s, "", nil, target); err != nil {
		t.Error(err, s.text())
	}
	has(t, s.out.String(), target.Name()+": 0 FAIL, 0 GONE\n")
	if open := servertest.Get(t, tasks.Conn, "SELECT count(*) FROM task WHERE state IN ('PLAN', 'WORK')"); open != "1" || tasks.State(later) != "PLAN" || tasks.State(paused) != "STOP" {
		t.Error(open)
	}
	if done := servertest.Get(t, tasks.Conn, "SELECT count(*) FROM task WHERE state = 'DONE'"); done != "100" && done != "50" {
		t.Error(done)
	}
}

// TestDrainTellsWhatHasFailed: since the drain began; the error is ErrFailed.
func TestDrainTellsWhatHasFailed(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, "INSERT INTO task (input, state, start, stop, error) VALUES ('', 'FAIL', now(), now(), 'before')")
	tasks.Add("input", "SELECT 1/0")
	tasks.Add("input, active, plan", "SELECT 1", "1 s", time.Now().Add(-time.Hour))
	s := people()
	if err := drained(t, s, "", nil, target); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.out.String(), ": FAIL 2 group: ERROR:  division by zero\n", ": GONE 3 group: ERROR:  task not active\n", ": 1 FAIL, 1 GONE\n")
	hasNot(t, s.out.String(), "before")
	tasks.Add("input, active, plan", "SELECT 1", "1 s", time.Now().Add(-time.Hour))
	s = program()
	if err := drained(t, s, "", nil, target); err != nil {
		t.Error(err)
	}
	has(t, s.objects.String(), `"id":4,"state":"GONE"`, `{"target":"`+target.Name()+`","failed":0,"gone":1}`)
}

// TestDrainWaitsForWhatIsPlannedUntil: up to that moment, not longer.
func TestDrainWaitsForWhatIsPlannedUntil(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	id := tasks.Add("input, plan", "SELECT 1", time.Now().Add(2*time.Second))
	later := tasks.Add("input, plan", "SELECT 1", time.Now().Add(time.Hour))
	if err := drained(t, people(), "now", nil, target); err != nil || tasks.State(id) != "PLAN" {
		t.Error(err, tasks.State(id))
	}
	if err := drained(t, people(), "1 minute", nil, target); err != nil || tasks.State(id) != "DONE" || tasks.State(later) != "PLAN" {
		t.Error(err, tasks.State(id), tasks.State(later))
	}
	if err := drained(t, people(), "someday", nil, target); err == nil || !strings.Contains(err.Error(), "--until") {
		t.Error(err)
	}
}

// TestDrainSaysWhatIsLeft: a retry in its backoff, and the tasks that wait for it, but not those
// that wait for a later or a paused task. With until, Drain waits for them.
func TestDrainSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	put(t, tasks.Conn, "CREATE SEQUENCE tried START -1 MINVALUE -1")
	again := tasks.Add("input, retry, backoff", "SELECT 1 / nextval('tried')", 2, "1 min")
	for _, id := range []int64{again, tasks.Add("input, plan", "SELECT 1", time.Now().Add(time.Hour)), tasks.Add("input, state", "SELECT 1", "STOP")} {
		last := tasks.Add("input, after", "SELECT 1", []int64{id})
		tasks.Add("input, after", "SELECT 1", []int64{last})
	}
	put(t, tasks.Conn, "SELECT nextval('tried')")
	s := people()
	if err := drained(t, s, "", nil, target); !errors.Is(err, ErrLeft) {
		t.Error(err, s.text())
	}
	name := target.Name()
	has(t, s.out.String(), name+": PLAN 1 group: runs again at ", ": ERROR:  division by zero\n", name+": PLAN 4 group: waits for task 1\n",
		name+": PLAN 5 group: waits for task 4\n", ": 0 FAIL, 0 GONE, 3 left\n")
	hasNot(t, s.out.String(), "PLAN 2", "PLAN 6", "PLAN 7", "PLAN 8", "PLAN 9")
	put(t, tasks.Conn, "UPDATE task SET plan = now() + interval '1 hour' WHERE id = 1")
	s = program()
	if err := drained(t, s, "", nil, target); !errors.Is(err, ErrLeft) {
		t.Error(err)
	}
	has(t, s.objects.String(), `"id":1,"state":"PLAN","group":"group","plan":"`, `"id":4,"state":"PLAN","group":"group","awaits":1}`, `"failed":0,"gone":0,"left":3}`)
	put(t, tasks.Conn, "UPDATE task SET plan = now() + interval '1 s' WHERE id = 1")
	if err := drained(t, s, "30 s", nil, target); err != nil || tasks.State(5) != "DONE" && tasks.State(5) != "" {
		t.Error(err, tasks.State(5), s.text())
	}
}

// TestDrainBesideALeader: the leader runs the tasks, and Drain learns which have failed.
func TestDrainBesideALeader(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	serve(t, target)
	tasks.Becomes(patient, tasks.Add("input", "SELECT 1"), "DONE")
	servertest.Exec(t, tasks.Conn, "SELECT pg_advisory_lock(7)")
	tasks.Becomes(patient, tasks.Add("input", "SELECT pg_advisory_lock(7); SELECT 1/0"), "WORK")
	s, remarks := people(), &record{}
	s.Screen.Err = remarks
	ended := make(chan error, 1)
	go func() { ended <- drained(t, s, "", nil, target) }()
	remarks.shows(t, "another controller leads")
	servertest.Exec(t, tasks.Conn, "SELECT pg_advisory_unlock(7)")
	if err := <-ended; !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.out.String(), ": 1 FAIL, 0 GONE\n")
}

// TestDrainMakesTheTable: as every controller does, and drains several targets.
func TestDrainMakesTheTable(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	other := target
	other.Table = "other"
	id := tasks.Add("input", "INSERT INTO task (input) VALUES ('SELECT 1/0')")
	s := people()
	if err := drained(t, s, "", nil, target, other); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	has(t, s.out.String(), target.Name()+": 1 FAIL, 0 GONE\n", other.Name()+": 0 FAIL, 0 GONE\n")
	if state := tasks.State(id); state != "DONE" && state != "" {
		t.Error(state)
	}
	tasktest.Table{T: t, Conn: tasks.Conn, Name: "other"}.Add("input", "SELECT 1")
}

// TestDrainIsInterrupted: running tasks end or are given back, and the error says that not
// everything is done.
func TestDrainIsInterrupted(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	target.Grace = 0
	id := tasks.Add("input", "SELECT pg_sleep(60)")
	stop := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- drained(t, people(), "", stop, target) }()
	tasks.Becomes(patient, id, "WORK")
	close(stop)
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
	if state := tasks.State(id); state != "PLAN" {
		t.Error(state)
	}
}

// TestWhatTakesLongShowsItsProgress: only on a terminal, and cleared before the next line.
func TestWhatTakesLongShowsItsProgress(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	servertest.Exec(t, tasks.Conn, "SELECT pg_advisory_lock(7)")
	tasks.Add("input", "SELECT pg_advisory_lock(7)")
	s, progress := people(), &record{}
	s.Screen.Err, s.Terminal = progress, true
	ended := make(chan error, 1)
	go func() { ended <- drained(t, s, "", nil, target) }()
	progress.shows(t, "\r\x1b[K"+target.Name()+": 0 due, 1 running")
	servertest.Exec(t, tasks.Conn, "SELECT pg_advisory_unlock(7)")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := progress.String(); !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("%q", text)
	}
	s, silent := people(), &record{}
	s.Screen.Err = silent
	s.Progress("something")
	if text := silent.String(); text != "" {
		t.Errorf("%q", text)
	}
}
