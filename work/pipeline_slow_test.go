//go:build slow

package work

import (
	"sync"
	"testing"

	"pgtaskd/server/proxy"
)

// TestSizeOfPipelines: a pipeline fits into the smallest buffers on its way, as nobody reads
// meanwhile. It should still use most of them.
func TestSizeOfPipelines(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	var mu sync.Mutex
	sent, read := map[int]int{}, map[int]int{} // bytes
	type question struct {
		bytes int // up to and including this question
		sync  bool
	}
	asked := map[int][]question{} // questions that the server has not yet answered with ReadyForQuery
	failed := map[int]bool{}      // the server skips everything up to the next Sync
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

// TestAWriteFindsTheTableThatATaskBeforeItHasMade: its plan is not older than the task before it in
// the lane.
func TestAWriteFindsTheTableThatATaskBeforeItHasMade(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE public.place (a int4)")
	s.serve()
	s.settled()
	user := s.get("SELECT quote_ident(current_user)")
	for _, lanes := range []int{1, 3} {
		s.exec("TRUNCATE task RESTART IDENTITY; DROP TABLE IF EXISTS " + user + ".place")
		s.exec(`INSERT INTO task (input, delete, "group") SELECT CASE WHEN i = 600 THEN 'CREATE TABLE `+user+`.place (a int4)'
			ELSE 'INSERT INTO place VALUES (1) RETURNING tableoid::regclass' END, false, i % $1 FROM generate_series(1, 1000) AS i`, lanes)
		s.eventually("1000", "SELECT count(*) FROM task WHERE state = 'DONE'")
		const made = "(SELECT t FROM task AS t WHERE id = 600)"
		if late := s.get(`SELECT count(*) FROM task WHERE start > (` + made + `).stop AND "group" = (` + made + `)."group" AND output = 'public.place'`); late != "0" {
			t.Errorf("%d lanes: %s tasks behind the one that made another table did not find it", lanes, late)
		}
	}
}

// TestWritesWithoutRerunRunOnce: whatever rules the database has.
func TestWritesWithoutRerunRunOnce(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE TABLE elsewhere (a int4); CREATE RULE none AS ON DELETE TO elsewhere DO INSTEAD NOTHING; CREATE SEQUENCE calls; CREATE TABLE w (a int8)")
	s.exec("CREATE FUNCTION mail() RETURNS int8 LANGUAGE sql AS $$SELECT nextval('calls')$$")
	s.serve()
	s.settled()
	s.exec(`INSERT INTO task (input, rerun, "group") SELECT 'INSERT INTO w SELECT mail() RETURNING a', false, 'g' || i % 4 FROM generate_series(1, 400) AS i`)
	s.eventually("400", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if calls := s.get("SELECT last_value FROM calls"); calls != "400" {
		t.Error("calls:", calls)
	}
}
