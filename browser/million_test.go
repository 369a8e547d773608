//go:build slow

package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTenMillionRows: each page answers in a second, a search in five, or says what it left out.
func TestTenMillionRows(t *testing.T) {
	s := play(t, nil)
	s.exec(`SET session_replication_role = replica`)
	began := time.Now()
	for range 10 {
		s.exec(`INSERT INTO task (input, "group", key, plan, start, stop, state, output, error, sqlstate, attempt)
			SELECT 'SELECT ' || n, 'g' || n % 50, CASE WHEN n % 10 = 0 THEN 'key' || n % 1000 END, now() - '1 day'::interval, now() - '1 day'::interval, now() - '1 day'::interval + '1 s',
				(CASE WHEN n % 1000 = 0 THEN 'FAIL' ELSE 'DONE' END)::state, n::text, CASE WHEN n % 1000 = 0 THEN 'ERROR:  division by zero' END, CASE WHEN n % 1000 = 0 THEN '22012' END, 1
			FROM generate_series(1, 1000000) AS n`)
	}
	t.Logf("made in %s", time.Since(began))
	id := s.get(`SELECT max(id) FROM task`)
	paths := append(pages(id),
		"/tasks?state=FAIL", "/tasks?state=PLAN", "/tasks?group=g7", "/tasks?group=none", "/tasks?key=key500", "/tasks?key=none", "/tasks?sort=oldest", "/tasks?sort=due",
		"/tasks?state=FAIL&group=none", "/tasks?since=2000-01-01&until=2001-01-01", "/tasks?id="+id, "/tasks?q=SELECT+77", "/tasks?q=nowhere", "/tasks?after=5000000")
	for _, path := range paths {
		limit := time.Second
		if strings.Contains(path, "q=") {
			limit = 5 * time.Second
		}
		for _, path := range []string{path, asJSON(path)} {
			began := time.Now()
			status, body := s.ask(http.MethodGet, path, "ann", nil)
			took := time.Since(began)
			t.Logf("%-50s %d %6d kB %s", path, status, len(body)>>10, took.Round(time.Millisecond))
			if status != http.StatusOK || took > limit+200*time.Millisecond {
				t.Errorf("%s: %d after %s: %.200s", path, status, took, body)
			}
		}
	}
}

// asJSON returns the URL of the JSON of a page.
func asJSON(path string) string {
	path, query, _ := strings.Cut(path, "?")
	return fmt.Sprintf("%s.json?%s", path, query)
}
