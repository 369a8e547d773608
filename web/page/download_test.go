package page

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// downloads returns a server that answers downloads; what fails becomes 500 with its text.
func (s *asker) downloads(t *testing.T, hidden rows.Hidden) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, _ := url.ParseQuery(r.URL.RawQuery)
		a := &Asked{Kind: &downloadPage, Targets: []Target{s.target}, Query: values, User: login.User{Role: login.Reader}, Hidden: hidden}
		if err := download(w, r, s.Sessions, a); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func download1(t *testing.T, url string) (*http.Response, string, error) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// TestDownloadsAreWhole: 20 MB in several pieces, which cut characters in two, byte for byte.
func TestDownloadsAreWhole(t *testing.T) {
	t.Parallel()
	s := asking(t)
	server := s.downloads(t, rows.Hidden{})
	id := s.Add("id, input, plan", int64(9007199254740993), "x", "infinity")
	s.Exec("UPDATE task SET output = (SELECT string_agg(md5(i::text) || 'ä€𝄞', E'\\r\\n') FROM generate_series(1, 490000) AS i) WHERE id = $1", id)
	response, text, err := download1(t, fmt.Sprintf("%s/?id=%d&column=output", server.URL, id))
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); sum != s.Get("SELECT encode(sha256(convert_to(output, 'UTF8')), 'hex') FROM task WHERE id = $1", id) || len(text) < 20<<20 {
		t.Errorf("%d bytes with the digest %s", len(text), sum)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": "attachment; filename=task-9007199254740993-output.txt",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestADownloadEndsIfTheRowChanges: the client sees that a part is missing.
func TestADownloadEndsIfTheRowChanges(t *testing.T) {
	t.Parallel()
	s := asking(t)
	server := s.downloads(t, rows.Hidden{})
	id := s.Add("input, plan, output", "x", "infinity", strings.Repeat("0123456789abcdef", 2<<20))
	response, err := http.Get(fmt.Sprintf("%s/?id=%d&column=output", server.URL, id))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	s.Exec("UPDATE task SET data = 'new' WHERE id = $1", id)
	if n, err := io.Copy(io.Discard, response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n := servertest.Get(t, s.Conn, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgtaskd-page' AND datname = current_database() AND state LIKE 'idle in%'"); n != "0" {
		t.Errorf("%s sessions are left in a transaction", n)
	}
}

// TestDownloadsHideWhatThePageHides: hidden columns, the input in errors, and passwords.
func TestDownloadsHideWhatThePageHides(t *testing.T) {
	t.Parallel()
	s := asking(t)
	id := s.Add("input, data, error, notice, plan", "top secret", "top secret", "ERROR:  password=hush\nSTATEMENT:  top secret", "PASSWORD 'hush'", "infinity")
	server := s.downloads(t, rows.Hidden{Input: true, Data: true, Output: true})
	for column, want := range map[string]string{
		"input": "readers do not see the column input\n", "data": "readers do not see the column data\n",
		"output": "readers do not see the column output\n", "error": "ERROR:  password=***", "notice": "PASSWORD ***",
		"key": "column must be one of error, output, notice, input, data, not \"key\"\n",
	} {
		if _, text, err := download1(t, fmt.Sprintf("%s/?id=%d&column=%s", server.URL, id, column)); text != want || err != nil {
			t.Errorf("%s: %q %v", column, text, err)
		}
	}
	for query, want := range map[string]string{
		fmt.Sprint("id=", id, "&column=output"): fmt.Sprintf("task %d has no output\n", id), "id=77&column=output": "there is no task 77",
		"id=x&column=output": "id must be",
	} {
		if _, text, _ := download1(t, s.downloads(t, rows.Hidden{}).URL+"/?"+query); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %q", query, text)
		}
	}
}
