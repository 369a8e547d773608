package exec

import (
	"strings"
	"sync"
	"testing"
	"time"

	"pgtaskd/server/proxy"
)

// executed counts the statements that go to the server, by text, and how many are parsed.
type executed struct {
	mu     sync.Mutex
	named  map[string]string
	counts map[string]int
	parsed int
}

func (e *executed) watch(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
	e.mu.Lock()
	defer e.mu.Unlock()
	fields := strings.SplitN(string(body), "\x00", 3)
	switch {
	case fromClient && kind == 'P': // name, text
		e.named[fields[0]] = fields[1]
		e.parsed++
	case fromClient && kind == 'B': // portal, name
		e.counts[e.named[fields[1]]]++
	}
	return proxy.Pass
}

func (e *executed) reset() (parsed int, counts map[string]int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	parsed, counts = e.parsed, e.counts
	e.parsed, e.counts = 0, map[string]int{}
	return parsed, counts
}

// TestConstantsInAPipeline: tasks with only constants are chained without a reset, by statements
// that are parsed once. A task that reads comes after a reset.
func TestConstantsInAPipeline(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	seen := &executed{named: map[string]string{}, counts: map[string]int{}}
	p.Watch(seen.watch)
	b.open()
	for i, c := range []struct {
		input                   string
		resets, chained, parsed int
	}{{"SELECT 1", 0, 3, -1}, {"SELECT 1", 0, 3, 0}, {"SELECT count(*) FROM ends", 4, 0, -1}, {"SELECT 1", 1, 3, -1}, {"SELECT count(*) FROM ends", 4, 0, -1}} {
		seen.reset()
		if results, _ := b.pipe(several(4, c.input)...); len(results) != 4 {
			t.Errorf("%d: %d have run", i, len(results))
		}
		parsed, counts := seen.reset()
		if resets, chained := counts["DISCARD ALL"], counts["COMMIT AND CHAIN"]; resets != c.resets || chained != c.chained || c.parsed >= 0 && parsed != c.parsed {
			t.Errorf("%d: %s: %d resets, %d chained, %d parsed", i, c.input, resets, chained, parsed)
		}
		if b.session.setup.state.dirty != (c.input != "SELECT 1") {
			t.Errorf("%d: %s: dirty %t", i, c.input, b.session.setup.state.dirty)
		}
	}
	for i := range 2 * knownMost { // each timeout makes another text
		task := spec("SELECT 1")
		task.Timeout = time.Duration(i+1) * time.Minute
		result, _ := b.run(task, nil)
		b.end(result)
	}
	if known := len(b.session.setup.state.known); known == 0 || known > knownMost {
		t.Error(known, "are prepared")
	}
	b.alive()
}

// TestConstantsLeaveNothing: after constants the session needs no reset, and the next transaction
// is chained.
func TestConstantsLeaveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for input, dirty := range map[string]bool{
		"SELECT 1": false, "VALUES (1, 'a'), (2, NULL)": false, "": false, "SELECT 1 + 1": true, "SELECT now()": true, "INSERT INTO ends VALUES (1)": true, "SELECT * FROM ends": true, "SHOW work_mem": true,
	} {
		if err := b.session.Reset(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first time comes after a reset
			result, _ := b.run(spec(input), nil)
			if b.session.setup.state.dirty != dirty || b.session.setup.chains(spec("SELECT 2")) == dirty {
				t.Errorf("%s: dirty %t", input, b.session.setup.state.dirty)
			}
			if next, verdict := b.run(spec("SELECT 2"), &Tail{}); output(next) != "2" || !verdict.Committed || b.session.setup.state.dirty {
				t.Errorf("after %s: %s %+v, dirty %t", input, output(next), verdict, b.session.setup.state.dirty)
			}
			b.end(result)
		}
	}
	own := spec("SELECT 1")
	own.Own = [][2]string{{"my.own", "x"}}
	result, _ := b.run(own, nil)
	if !b.session.setup.state.dirty {
		t.Error("settings of its own are left")
	}
	b.end(result)
	b.alive()
}

// TestConstantsThatFail: a Parse that the server has skipped does not count as prepared.
func TestConstantsThatFail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		results, _ := b.pipe(spec("SELECT 'a' 'b'"), spec("SELECT 1"), spec("SELECT 2"))
		if len(results) != 1 || failure(results[0]) != "42601" || len(b.session.setup.state.known) == 0 {
			t.Errorf("%d have run, %d are taken for prepared", len(results), len(b.session.setup.state.known))
		}
		b.alone()
		late := spec("SELECT 1")
		late.Until = time.Now().Add(-time.Hour)
		if results, _ = b.pipe(spec("SELECT 1"), late, spec("SELECT 2")); len(results) != 1 {
			t.Error(len(results), "have run")
		}
		if results, _ = b.pipe(several(3, "SELECT 1")...); len(results) != 3 {
			t.Error(len(results), "have run")
		}
	}
}

// TestConstantsAfterAFailureWithSave: the server has skipped a Parse of ours after the failure, and
// the next task keeps the session's state.
func TestConstantsAfterAFailureWithSave(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, next := spec("SELECT 'a' 'b'"), spec("SELECT 1")
	first.Save, next.Save, next.Keep = true, true, true
	if failed, _ := b.run(first, nil); failure(failed) != "42601" {
		t.Error(failed.Failure)
	}
	if result, _ := b.run(next, nil); result.Failure != nil || !result.Open {
		t.Error(result.Failure)
	}
}
