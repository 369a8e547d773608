package ask

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// record keeps the output. Another goroutine may read it meanwhile.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// shows waits until the output contains part.
func (r *record) shows(t *testing.T, part string) {
	t.Helper()
	servertest.Wait(t, patient, part, func() bool { return strings.Contains(r.String(), part) }, r.String)
}

// ends waits until the output contains one of two parts.
func (r *record) ends(t *testing.T, one, other string) {
	t.Helper()
	servertest.Wait(t, patient, one+" or "+other, func() bool {
		return strings.Contains(r.String(), one) || strings.Contains(r.String(), other)
	}, r.String)
}

// tailed runs a tail until the caller calls end.
func tailed(t *testing.T, objects bool, targets ...work.Target) (out, remarks *record, end func()) {
	t.Helper()
	out, remarks = &record{}, &record{}
	s := &Screen{Out: out, Err: remarks, Visible: escaped}
	if objects {
		s.Objects = out
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- Tail(ctx, s, targets) }()
	open := true
	end = func() {
		if open {
			open = false
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(end)
	return out, remarks, end
}

// waits returns when a tail's session has looked once: opening the table ends with a COMMIT, and
// the look with another.
func waits(t *testing.T, target work.Target) (pid string) {
	t.Helper()
	conn := servertest.Connect(t, target.Connect.String())
	commits := map[string]bool{}
	servertest.Wait(t, patient, "a tail", func() bool {
		pid = servertest.Get(t, conn, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pgtaskd-tail' AND query = 'commit'")
		if pid != "0" {
			commits[servertest.Get(t, conn, "SELECT max(query_start) FROM pg_stat_activity WHERE query = 'commit' AND pid = $1::text::int", pid)] = true
		}
		return len(commits) > 1
	})
	return pid
}

// TestTailShowsWhatStartsAndEnds: with the first line of the output, the whole error, the notices,
// and that a task runs again.
func TestTailShowsWhatStartsAndEnds(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	serve(t, target)
	tasks.Becomes(patient, tasks.Add("input", "SELECT 'before the tail'"), "DONE")
	out, _, end := tailed(t, false, target)
	waits(t, target)
	tasks.Add(`"group", input`, "reports", "SELECT 'one' AS a, 1 AS b UNION ALL SELECT 'two', 2")
	out.shows(t, "reports: ")
	out.shows(t, ", one  1\n")
	tasks.Add("input", "DO $$BEGIN RAISE NOTICE 'look here'; RAISE EXCEPTION 'bad' USING DETAIL = 'worse'; END$$")
	out.shows(t, "FAIL   3 group: ")
	out.shows(t, "\n           ERROR:  bad\n           DETAIL:  worse\n")
	id := tasks.Add("input", "SELECT pg_sleep(60)")
	out.shows(t, " start  4 group: SELECT pg_sleep(60)")
	servertest.Exec(t, tasks.Conn, "UPDATE task SET state = 'STOP' WHERE id = $1", id)
	out.shows(t, "STOP   4 group: ")
	tasks.Add("input, retry", "SELECT 1/0", 1)
	out.shows(t, "again  5 group: at ")
	tasks.Add("input", "SELECT 1 FROM pg_sleep(2) AS s WHERE s IS NULL")
	// a row without output is deleted a moment after its end, perhaps before the next look
	out.ends(t, "DONE   6 group: ", "gone   6: ")
	end()
	hasNot(t, out.String(), "before the tail", "two", "a  b")
}

// TestEventsOfATask: its start at the last look and now ("-": it neither waits nor runs), the row
// if it is read (empty: it is gone), the event, and the start that the next look knows.
func TestEventsOfATask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known, now  string
		row         *Task
		event, then string
	}{
		"waits":                        {"", "", nil, "", ""},
		"is new and waits":             {"-", "", nil, "", ""},
		"still runs":                   {"1", "1", nil, "", "1"},
		"waits again, and is due":      {"1", "", nil, "", ""},
		"starts":                       {"", "1", &Task{State: "WORK", Start: "1"}, "start", "1"},
		"starts again":                 {"1", "2", &Task{State: "WORK", Start: "2"}, "start", "2"},
		"starts twice":                 {"-", "1", &Task{State: "WORK", Start: "2"}, "start", "2"},
		"starts, and is being stopped": {"", "1", &Task{State: "STOP", Start: "1"}, "", "1"},
		"starts, and waits again":      {"", "1", &Task{State: "PLAN", Start: "1", Attempt: 1, Error: "e"}, "", "1"},
		"starts after the look":        {"", "-", &Task{State: "WORK", Start: "1"}, "start", "1"},
		"runs, and is no longer due":   {"1", "-", &Task{State: "WORK", Start: "1"}, "", "1"},
		"ends":                         {"1", "-", &Task{State: "DONE", Start: "1", Stop: "2"}, "end", "-"},
		"starts and ends":              {"", "-", &Task{State: "FAIL", Start: "1", Stop: "2"}, "end", "-"},
		"is being stopped":             {"1", "-", &Task{State: "STOP", Start: "1"}, "", "1"},
		"ends in the middle of a look": {"", "1", &Task{State: "DONE", Start: "1", Stop: "2"}, "end", "-"},
		"is deleted in the middle":     {"", "1", &Task{}, "deleted", "-"},
		"is paused":                    {"", "-", &Task{State: "STOP"}, "", "-"},
		"is deleted":                   {"1", "-", &Task{}, "deleted", "-"},
		"is tried again":               {"1", "-", &Task{State: "PLAN", Start: "1", Attempt: 1, Error: "e"}, "retry", "-"},
		"is planned for later":         {"", "-", &Task{State: "PLAN"}, "", "-"},
	} {
		known, now := starts{}, starts{}
		for start, at := range map[*string]starts{&c.known: known, &c.now: now} {
			if *start != "-" {
				at[7] = *start
			}
		}
		ids, event, then := changed(known, now), "", "-"
		if (len(ids) == 1) != (c.row != nil) {
			t.Errorf("%s: reads %v", name, ids)
			continue
		}
		if c.row != nil {
			rows := []Task{*c.row}
			if rows[0].ID = 7; c.row.State == "" {
				rows = nil
			}
			for _, e := range (&tail{known: known}).events(now, ids, rows) {
				event += e.Event
			}
		}
		if start, open := now[7]; open {
			then = start
		}
		if event != c.event || then != c.then {
			t.Errorf("%s: event %q, then %q", name, event, then)
		}
	}
}

// TestTailMissesNoTaskThatComesInTheMiddleOfALook: it waits when the look finds it among the new
// tasks, and has ended by the next look.
func TestTailMissesNoTaskThatComesInTheMiddleOfALook(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	out := &record{}
	w := &tail{s: &Screen{Out: out, Err: out, Visible: escaped}, target: target, known: starts{}}
	b, err := open(t.Context(), target, "tail", rows.Reads)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	due, err := w.due(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	id := tasks.Add("input", "SELECT 1")
	if err := w.newer(t.Context(), b, due); err != nil {
		t.Fatal(err)
	}
	w.known = due
	servertest.Exec(t, tasks.Conn, "UPDATE task SET state = 'DONE', start = now(), stop = now(), output = 'seen' WHERE id = $1", id)
	if err := w.look(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "seen") {
		t.Error("the task is not shown: ", out.String())
	}
}

// TestTailGoesOnAfterALostConnection: it shows the tasks that have ended meanwhile.
func TestTailGoesOnAfterALostConnection(t *testing.T) {
	t.Parallel()
	target, tasks := made(t)
	serve(t, target)
	other := target
	other.Table = "missing"
	out, remarks, _ := tailed(t, true, target)
	pid := waits(t, target)
	servertest.Exec(t, tasks.Conn, "SELECT pg_terminate_backend($1::text::int)", pid)
	remarks.shows(t, "trying again")
	tasks.Add("input", "SELECT 42")
	remarks.shows(t, "connected again")
	out.shows(t, `"output":"42"`)
	for line := range strings.Lines(out.String()) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Event == "" || e.Target != target.Name() {
			t.Error(line, err)
		}
	}
	err := Tail(t.Context(), &Screen{Out: io.Discard, Err: io.Discard, Visible: escaped}, []work.Target{other})
	if err == nil {
		t.Error("there is no table, and yet it has an end")
	}
}
