package exec

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestLimitLeft: a limit of a millisecond that the SQL has left may run out in what we ask behind
// it, which is no fault of the SQL's: it can be run once more.
func TestLimitLeft(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	var mu sync.Mutex
	behind, delays := false, false // the SQL has passed, perhaps in vain; what follows it is kept waiting
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case fromClient && kind == 'Q' && bytes.Contains(body, []byte("INSERT INTO ends")):
			behind = true
		case fromClient && kind == 'E' && behind: // the server counts from the message before it
			behind = false
			if delays {
				time.Sleep(50 * time.Millisecond)
			}
		}
		return proxy.Pass
	})
	b.open()
	for _, input := range []string{
		"INSERT INTO ends VALUES (1); SET statement_timeout TO 1",
		"INSERT INTO ends VALUES (1); SELECT set_config('Statement_Timeout', '1', false)",
	} {
		delay := func(on bool) {
			mu.Lock()
			defer mu.Unlock()
			delays = on
		}
		delay(true)
		task := spec(input)
		result, _ := b.run(task, nil)
		delay(false)
		if !result.Forgot || result.Open {
			t.Errorf("%s: it cannot be run again: %+v", input, result)
		}
		task.Wary = true
		var verdict *Verdict
		for tries := 0; tries < 20 && (verdict == nil || !verdict.Committed); tries++ { // on a busy machine a millisecond may pass by itself
			result, _ = b.run(task, nil)
			verdict = b.end(result, "SELECT 1")
		}
		if verdict == nil || !verdict.Committed {
			t.Errorf("%s: %+v %v", input, verdict, result.Failure)
		}
	}
	if rows := b.get("SELECT count(*) FROM ends"); rows != "2" {
		t.Errorf("%s effects", rows)
	}
}

// newProxied is a bench whose sessions go through a proxy; the first is still to be opened.
func newProxied(t *testing.T) (*bench, *proxy.Proxy) {
	t.Helper()
	b := newBench(t)
	b.session.Close()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	b.dsn = p.DSN(b.dsn)
	return b, p
}

// TestErrorsOfLimits: what a time limit brings about is worth another try, and the will of a person
// is not. Servers from 17 on say 25P04 of a transaction.
func TestErrorsOfLimits(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"25P03": true, "25P04": true, "57P05": false, "57P01": false, "57P02": false, "XX000": false} {
		if e := (&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: code}); limit(e) != want {
			t.Errorf("FATAL %s: %t", code, !want)
		}
	}
	if !limit(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "57014"}) || limit(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25P04"}) {
		t.Error("an ERROR")
	}
}
