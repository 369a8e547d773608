package exec

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestLimitLeft: a limit of a millisecond that the SQL has left holds until we have set our own, which
// takes less. Where it does not, the task fails by its limit, and nothing of it stays.
func TestLimitLeft(t *testing.T) {
	t.Parallel()
	b, p := newProxied(t)
	var mu sync.Mutex
	after, delayed := 0, 0 // statements since the SQL has passed, perhaps in vain, and which of them is kept waiting
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case fromClient && kind == 'Q' && bytes.Contains(body, []byte("INSERT INTO ends")):
			after = 0
		case fromClient && kind == 'E': // the server counts from the message before it
			if after++; after == delayed {
				time.Sleep(50 * time.Millisecond)
			}
		}
		return proxy.Pass
	})
	delay := func(number int) {
		mu.Lock()
		defer mu.Unlock()
		delayed = number
	}
	b.open()
	for _, input := range []string{
		"INSERT INTO ends VALUES (1); SET statement_timeout TO 1",
		"INSERT INTO ends VALUES (1); SELECT set_config('Statement_Timeout', '1', false)",
	} {
		delay(1)
		result, _ := b.run(spec(input), nil)
		delay(0)
		if failure(result) != "57014" || result.Open {
			t.Errorf("%s: %+v", input, result)
		}
		b.alive()
		for _, number := range []int{2, 3} { // those that come after ours is set
			var verdict *Verdict
			for tries := 0; tries < 20 && (verdict == nil || !verdict.Committed); tries++ { // on a busy machine a millisecond may pass by itself
				delay(number)
				result, _ = b.run(spec(input), nil)
				delay(0)
				verdict = b.end(result)
			}
			if verdict == nil || !verdict.Committed {
				t.Errorf("%s: %+v %v", input, verdict, result.Failure)
			}
			b.alive()
		}
	}
	if rows := b.get("SELECT count(*) FROM ends"); rows != "4" {
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
