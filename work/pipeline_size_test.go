//go:build slow

package work

import (
	"sync"
	"testing"

	"pgtaskd/server/proxy"
)

// TestSizeOfPipelines: what is sent at once fits into the smallest buffers that a way may have, as
// nobody reads meanwhile, and yet is as much as they hold.
func TestSizeOfPipelines(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	var mu sync.Mutex
	sent, read := map[int]int{}, map[int]int{} // bytes
	type question struct {
		bytes int // up to it
		sync  bool
	}
	asked := map[int][]question{} // that the server has to answer by being ready
	failed := map[int]bool{}      // it passes over what comes before the next Sync
	size, most := 0, 0
	p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case fromClient:
			if sent[conn] += len(body) + 5; kind == 'Q' || kind == 'S' {
				asked[conn] = append(asked[conn], question{sent[conn], kind == 'S'})
			}
			size, most = max(size, sent[conn]-read[conn]), max(most, len(asked[conn]))
		case kind == 'E':
			failed[conn] = true
		case kind == 'Z':
			for len(asked[conn]) > 0 {
				first := asked[conn][0]
				read[conn], asked[conn] = first.bytes, asked[conn][1:]
				if first.sync || !failed[conn] {
					break
				}
			}
			failed[conn] = false
		}
		return proxy.Pass
	})
	s := leading(t, func(t *Target) { t.Run = 1 })
	for _, timeout := range []string{"0", "1 min"} {
		s.exec(`INSERT INTO task (input, data, remote, timeout, "group") SELECT $1, 'quick', $2, $3::interval, 'a lane with a name' FROM generate_series(1, 400) AS i`,
			waits, p.DSN(s.dsn), timeout)
	}
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	mu.Lock()
	defer mu.Unlock()
	if size > 16<<10 || most < 10 {
		t.Errorf("%d bytes, %d inputs", size, most)
	}
	t.Logf("%d bytes, %d inputs", size, most)
}
