package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/programtest"
	"pgtaskd/server/servertest"
)

// patience bounds each wait of a test, on a busy machine.
const patience = 20 * time.Second

// stage is a database whose table task a pgtaskd of its own serves, with the page.
type stage struct {
	*testing.T
	conn    *pgx.Conn
	name    string // of the database
	folder  string
	url     string // of the page, with its prefix
	program *programtest.Program
}

var databases atomic.Int64 // so many have been made

// token returns the token of a user.
func token(user string) string { return "the token of " + user }

// play makes a stage. Its users are ann, an operator, and wall, a reader; change may change the
// section http of the configuration.
func play(t *testing.T, change func(http map[string]any)) *stage {
	t.Helper()
	s := &stage{T: t, folder: t.TempDir()}
	s.name = fmt.Sprintf("page%d", databases.Add(1))
	servertest.Exec(t, servertest.Connect(t, postgres.DSN("postgres")), "CREATE DATABASE "+s.name)
	dsn := postgres.DSN(s.name)
	s.conn = servertest.Connect(t, dsn)
	section := map[string]any{"listen": "127.0.0.1:0", "users": []any{s.user("ann", "operator"), s.user("wall", "reader")}}
	if change != nil {
		change(section)
	}
	config := map[string]any{"dsn": dsn, "http": section, "targets": []any{map[string]any{"data": s.name, "user": s.conn.Config().User}}}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := s.file("pgtaskd.json", string(text))
	s.start(path)
	return s
}

func (s *stage) start(config string) {
	s.Helper()
	s.program = programtest.Run(s.T, pgtaskd, "run", "--config", config)
	said := regexp.MustCompile(`"url":"(http[^"]*)"`)
	if !s.program.Says(patience, func(log string) bool { return said.MatchString(log) && strings.Contains(log, `"leading"`) }) {
		s.Fatalf("it does not lead:\n%s", s.program.Log)
	}
	s.url = strings.TrimSuffix(said.FindStringSubmatch(s.program.Log.String())[1], "/")
}

func (s *stage) user(name, role string) map[string]any {
	return map[string]any{"name": name, "role": role, "token_file": s.file(name, token(name)+"\n")}
}

func (s *stage) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// exec runs SQL as the table's owner would by psql.
func (s *stage) exec(sql string, args ...any) {
	s.Helper()
	servertest.Exec(s.T, s.conn, sql, args...)
}

func (s *stage) get(sql string, args ...any) string {
	s.Helper()
	return servertest.Get(s.T, s.conn, sql, args...)
}

// ask sends a request as curl would; user "" has no token.
func (s *stage) ask(method, path, user string, form url.Values) (status int, body string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+token(user))
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// target is the target's name in URLs.
func (s *stage) target() string { return fmt.Sprintf("%s/public/task", s.name) }
