package web

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgtaskd/conf"
	"pgtaskd/remote"
	"pgtaskd/work/target"
)

// TestPagesShowWhatATerminalWouldObey: control characters in names are escaped, as in the log.
func TestPagesShowWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	const nasty = "a\x1b[31m\u202e\u3164\u200b\u009bz"
	const shown = `a\x1b[31m\u202e\u3164\u200b\x9bz`
	s := opened(t)
	stats := target.NewStats()
	stats.Sees(target.Survey{Successes: map[string]time.Time{nasty: time.Now()}})
	s.Show([]target.Target{{Connect: remote.Settings{"dbname": nasty}, Schema: "s", Table: "t", Stats: stats}})
	escaped := strings.ReplaceAll(shown, `\`, `\\`)
	for path, name := range map[string]string{"/metrics": `{target="` + escaped + `/s/t",key="` + escaped + `"}`, "/readyz": shown} {
		response, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || !strings.Contains(string(text), name) || strings.ContainsAny(string(text), "\x1b\u202e\u3164\u200b\u009b") {
			t.Errorf("%s: %v %q", path, err, text)
		}
		if response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: a browser may guess what it is", path)
		}
	}
}

// TestOnlyWhoMeansThisMachineIsAnswered: a web page reads nothing if its name resolves to a
// loopback address.
func TestOnlyWhoMeansThisMachineIsAnswered(t *testing.T) {
	t.Parallel()
	ask := func(s *site, host string) (int, string) {
		request, err := http.NewRequest(http.MethodGet, s.URL()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text)
	}
	s := opened(t)
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8080": 200, "localhost:1": 200, "LOCALHOST": 200, "[::1]:80": 200, "[::1]": 200, "127.0.0.2": 200, "localhost.": 200, "10.0.0.1": 421,
		"evil.example": 421, "evil.example:8080": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421,
	} {
		if status, text := ask(s, host); status != want || want == 421 && (!strings.Contains(text, "http.listen") || strings.Contains(text, "pgtaskd_")) {
			t.Errorf("%s: %d %s", host, status, text)
		}
	}
	wide := &site{New(s.log, "v1"), t}
	t.Cleanup(wide.Close)
	if err := wide.Listen(conf.HTTP{Listen: "localhost:0"}); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(wide, "evil.example"); status != 421 {
		t.Error("localhost answers a stranger's name: ", status)
	}
	if err := wide.Listen(conf.HTTP{Listen: "0.0.0.0:0"}); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(wide, "metrics.example"); status != 200 {
		t.Error("an address that others reach does not answer its name: ", status)
	}
}
