//go:build slow

package attack

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestRemoteTellsNothing: a task's remote reveals nothing about the controller's machine. Whatever
// prevents a connection, the text is the same.
func TestRemoteTellsNothing(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", object{"run": 32})
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := closed.Addr().(*net.TCPAddr).Port
	_ = closed.Close()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, ".s.PGSQL.5432"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for what, host := range map[string]string{
		"a port that is closed":      fmt.Sprint("127.0.0.1 port=", free),
		"a port that is open":        fmt.Sprint("127.0.0.1 port=", silent.Addr().(*net.TCPAddr).Port),
		"a folder that is there":     folder,
		"a folder that is not there": folder + "/nowhere",
		"a file":                     "/etc/passwd",
		"a closed folder":            "/proc/1/cwd",
		"a host that is not there":   "nowhere.invalid",
	} {
		ids[what] = s.add(table, `"group", input, remote`, fmt.Sprintf(`'%[1]s', 'SELECT 1', 'host=%[2]s dbname=x user=x password=x connect_timeout=2'`, what, host))
	}
	texts := map[string][]string{}
	for what, id := range ids {
		look := "SELECT sqlstate || error FROM own.task WHERE id = " + id
		if !servertest.Comes(servedIn, func() bool { return s.get(s.safe, look) != "" }) {
			t.Errorf("%s: no error", what)
		}
		texts[s.get(s.safe, look)] = append(texts[s.get(s.safe, look)], what)
	}
	if len(texts) > 1 {
		for text, what := range texts {
			t.Errorf("%q tells %s", text, strings.Join(what, ", "))
		}
	}
}

// TestRemoteOfAnotherTarget: a remote in the configuration that names its targets serves no others.
func TestRemoteOfAnotherTarget(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.choose(attack{tables: "public.task own.task"})
	s.configure(object{"remotes": object{
		"theirs": object{"dsn": s.dsn("$p"), "targets": []string{s.database + "/public/task"}},
		"all":    s.dsn("$m"),
	}})
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	theirs, own := s.targets[0], s.targets[1]
	s.ends(theirs, s.add(theirs, "remote, input", "'theirs', 'SELECT 1'"), "DONE")
	s.ends(own, s.add(own, "remote, input", "'all', 'SELECT 1'"), "DONE")
	s.ends(own, s.add(own, "remote, input", "'theirs', 'SELECT 1'"), "FAIL")
}

// TestRemoteSendsNoLinesToOthers: the text of a task's remote does not reach a port as lines of its
// own, if a program other than PostgreSQL reads lines there.
func TestRemoteSendsNoLinesToOthers(t *testing.T) {
	t.Parallel()
	s, table := single(t, "own.task", nil)
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan []byte, 100)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(received)
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Second)) // it waits for a whole line, like these programs
			said, _ := io.ReadAll(conn)
			_ = conn.Close()
			received <- said
		}
	}()
	s.exec(s.safe, "GRANT USAGE ON SCHEMA own TO $m")
	s.exec(s.as("$o"), "ALTER TABLE own.task ALTER COLUMN input SET DEFAULT 'SELECT 1'; GRANT INSERT (data, remote) ON own.task TO $m; GRANT SELECT (id) ON own.task TO $m; GRANT USAGE ON ALL SEQUENCES IN SCHEMA own TO $m")
	for _, keyword := range []string{"application_name", "user", "dbname", "options", "client_encoding", "replication"} {
		remote := fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable password=x connect_timeout=3 %s='a\r\nSET owned 1\r\n'", listener.Addr().(*net.TCPAddr).Port, keyword)
		servertest.Exec(t, s.mallory, "SELECT set_config('pg_task.remote', $1, false)", remote)
		s.ends(table, s.get(s.mallory, "INSERT INTO own.task (data) VALUES ('"+keyword+"') RETURNING id"), "FAIL")
	}
	_ = listener.Close()
	for said := range received {
		if strings.Contains(string(said), "\nSET owned") {
			t.Fatalf("received %q", said)
		}
	}
}
