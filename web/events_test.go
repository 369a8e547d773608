package web

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/work/target"
)

// events opens a stream. It delivers the lines of its events; closed at its end.
func (s *site) events(query, token string) (status int, lines <-chan string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL()+"/events?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	found := make(chan string, 10000)
	go func() {
		defer close(found)
		defer response.Body.Close()
		for text := bufio.NewScanner(response.Body); text.Scan(); {
			found <- text.Text()
		}
	}()
	return response.StatusCode, found
}

// has waits for a line with a text.
func has(lines <-chan string, text string, within time.Duration) bool {
	for limit := time.After(within); ; {
		select {
		case line, open := <-lines:
			if !open || strings.Contains(line, text) {
				return open
			}
		case <-limit:
			return false
		}
	}
}

// ended waits for the end of a stream.
func ended(lines <-chan string) bool {
	for limit := time.After(patience); ; {
		select {
		case _, open := <-lines:
			if !open {
				return true
			}
		case <-limit:
			return false
		}
	}
}

// TestStreamsFollowTheTable: a change is sent soon, without what is hidden from who watches.
// Streams end with the settings under which they were opened, and with the site.
func TestStreamsFollowTheTable(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	const token = "a-long-token-for-ann-0123456789"
	settings := conf.HTTP{Listen: "127.0.0.1:0", Users: []conf.User{{Name: "ann", Token: token}}}
	s := &site{New(zerolog.Nop(), "v1"), t}
	t.Cleanup(s.Close)
	if err := s.Listen(settings); err != nil {
		t.Fatal(err)
	}
	to := single(t, dsn)
	to.Stats = target.NewStats()
	s.Show([]target.Target{to})
	for query, want := range map[string]int{"page=/": 401, "page=/nothing": 401} {
		if status, _ := s.events(query, ""); status != want {
			t.Errorf("%s without a login: %d", query, status)
		}
	}
	for _, query := range []string{"page=/nothing", "page=/&target=none", "page=/&stat=FAIL", "page=/errors&target=none"} {
		if status, _ := s.events(query, token); status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, status)
		}
	}
	status, lines := s.events("page=/", token)
	if status != http.StatusOK || !has(lines, `id="main"`, patience) {
		t.Fatal(status)
	}
	servertest.Exec(t, conn, `INSERT INTO task (input, key, plan) VALUES ('SELECT 1', 'nightly <b>', now() + interval '1 day')`)
	if !has(lines, "nightly &lt;b&gt;", patience) {
		t.Error("a new job is not sent")
	}
	servertest.Exec(t, conn, `ALTER TABLE task RENAME TO away`)
	if !has(lines, "event: fault", patience) || !has(lines, "data: ", patience) {
		t.Error("nobody is told that the table is away")
	}
	servertest.Exec(t, conn, `ALTER TABLE away RENAME TO task`)
	if !has(lines, "nightly &lt;b&gt;", patience) {
		t.Error("the table is back, and nobody is told")
	}
	settings.Users[0].Token += "-new"
	if err := s.Listen(settings); err != nil || !ended(lines) {
		t.Errorf("the stream goes on with a token that is no more: %v", err)
	}
	_, lines = s.events("page=/", token+"-new")
	began := time.Now()
	s.Close()
	if took := time.Since(began); !ended(lines) || took > closeLimit+time.Second {
		t.Errorf("the site takes %v to close", took)
	}
}
