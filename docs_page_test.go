package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

var (
	curlLine   = regexp.MustCompile(`(?m)^(?:\$ )?curl (.*)\n((?:[{\[].*\n)?)`)
	curlHeader = regexp.MustCompile(`-H "([^:]+): ([^"]+)"`)
	curlData   = regexp.MustCompile(`-d '([^']+)'`)
	curlURL    = regexp.MustCompile(`https://([^/\s]+)(/[^'\s]*)`)
	tokenOfAct = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)
	ownToken   = regexp.MustCompile(`\$(TOKEN|\(cat [^)]+\))`)
)

// TestCurlDoesWhatTheDocumentsShow sends the requests of the guide and of operations to a page with
// the configuration of operations, without TLS.
func TestCurlDoesWhatTheDocumentsShow(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\\\n", "")
	}
	operations := read("docs/operations.md")
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	d := start(t, "--config", pageOf(t, operations, dsn, conn.Config().Database, conn.Config().User))
	d.leads(1)
	address := ""
	d.until("the address", func() bool {
		_, rest, _ := strings.Cut(d.stderr.String(), `"url":"`)
		address, _, _ = strings.Cut(rest, `"`)
		return address != ""
	})
	servertest.Exec(t, conn, `INSERT INTO task (id, "group", input) SELECT n, 'mail', 'SELECT 1/0' FROM generate_series(42, 44) AS n`)
	token, sent := "", 0
	for _, example := range curlLine.FindAllStringSubmatch(operations+read("docs/guide.md"), -1) {
		d.until("the ends", func() bool { return servertest.Get(t, conn, "SELECT count(*) FROM task WHERE state = 'FAIL'") == "3" })
		to, method, body := curlURL.FindStringSubmatch(example[1]), http.MethodGet, ""
		if data := curlData.FindStringSubmatch(example[1]); data != nil {
			method, body = http.MethodPost, tokenOfAct.ReplaceAllString(data[1], token)
			body = strings.ReplaceAll(body, "shop/", conn.Config().Database+"/")
		}
		request, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(address, "/")+to[2], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = to[1]
		for _, header := range curlHeader.FindAllStringSubmatch(example[1], -1) {
			request.Header.Set(header[1], ownToken.ReplaceAllString(header[2], "secret of ann"))
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if found := tokenOfAct.FindString(string(got)); found != "" {
			token = found
		}
		want, is := tokenOfAct.ReplaceAllString(example[2], "…"), tokenOfAct.ReplaceAllString(string(got), "…")
		if response.StatusCode > http.StatusAccepted || strings.TrimSpace(want) != "" && strings.TrimSpace(want) != strings.TrimSpace(is) {
			t.Errorf("%s\nis answered by %d %sand not by\n%s", example[1], response.StatusCode, is, want)
		}
		sent++
	}
	if sent < 5 {
		t.Error("there are ", sent, " examples")
	}
}

// pageOf writes the configuration in docs/operations.md that has users, for one database and
// without TLS.
func pageOf(t *testing.T, operations, dsn, database, user string) string {
	t.Helper()
	_, text, _ := strings.Cut(operations, "\n## The page\n")
	_, text, _ = strings.Cut(text, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	folder := t.TempDir()
	var config map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "/etc/pgtaskd", folder)), &config); err != nil {
		t.Fatal(err)
	}
	page := config["http"].(map[string]any)
	page["listen"] = "127.0.0.1:0"
	delete(page, "cert")
	delete(page, "key")
	config["dsn"], config["targets"] = dsn, []any{map[string]any{"data": database, "user": user}}
	written, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ann.token": "secret of ann\n", "wall.token": "secret of wall\n", "pgtaskd.json": string(written)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "pgtaskd.json")
}
