package work

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answering opens a port that sends some bytes, if any, to each client, and hangs up.
func answering(t *testing.T, words string) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(words))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port
}

// TestErrorsOfARemoteTellNothingOfTheControllersMachine: a role that is no superuser cannot tell
// the machine's paths and ports apart, neither by the error nor by the time until it comes.
func TestErrorsOfARemoteTellNothingOfTheControllersMachine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, socket := filepath.Join(folder, "file"), filepath.Join(folder, ".s.PGSQL.5432")
	for _, path := range []string{file, socket} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := guest(t, func(t *Target) {
		t.Remotes = map[string]string{"entry": "host=" + folder, "file": "host=h sslmode=require sslrootcert=" + file, "service": "service=s servicefile=" + file}
	})
	probes := map[string]string{}
	for name, where := range map[string]string{
		"no path":            "host=/nowhere/at/all",
		"path of a file":     "host=" + file,
		"no socket":          "host=" + folder,
		"long path":          "host=/" + strings.Repeat("x", 200),
		"closed port":        "host=127.0.0.1 port=1",
		"port that hangs up": "host=127.0.0.1 port=" + answering(t, ""),
		"another protocol":   "host=127.0.0.1 port=" + answering(t, "SSH-2.0-OpenSSH\r\n"),
		"refuses TLS":        "host=127.0.0.1 sslmode=require port=" + answering(t, "N"),
		"broken TLS":         "host=127.0.0.1 sslmode=verify-full port=" + answering(t, "Sxxxxxxxxxxxxxxxx"),
		"certificates":       "host=127.0.0.1 sslrootcert=system port=" + answering(t, "S"),
		"no name":            "host=nowhere.invalid",
		"all of them":        "host=/nowhere,127.0.0.1,nowhere.invalid port=1",
	} {
		probes[name] = where + " user=u password=secret"
	}
	probes["entry of the configuration"] = "entry"
	began := time.Now()
	ids := map[string]int64{}
	for name, probe := range probes {
		ids[name] = s.add(`input, remote, "group"`, "SELECT 1", probe, name)
	}
	const want = `{"error":"ERROR:  could not establish connection\nHINT:  The log of pgtaskd says why.","sqlstate":"08001"}`
	for name, id := range ids {
		s.eventually("true", "SELECT error IS NOT NULL FROM task WHERE id = $1", id)
		if row := s.row(id, "error, sqlstate"); row != want || s.state(id) == "FAIL" {
			t.Errorf("%s: %s", name, row)
		}
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the first answers come after %s", took)
	}
	for name, want := range map[string]string{"file": "file", "service": "service"} {
		id := s.add("input, remote", "SELECT 1", name)
		s.becomes(id, "FAIL")
		if text := s.get("SELECT error FROM task WHERE id = $1", id); text != `ERROR:  remote "`+want+`" of the configuration can't be used`+"\nHINT:  The log of pgtaskd says why." {
			t.Error(text)
		}
	}
	for _, said := range []string{"no such file or directory", "connection refused", "no such host", file} {
		if !strings.Contains(s.logged(), said) {
			t.Errorf("the log does not say %q", said)
		}
	}
	if strings.Contains(s.logged(), "secret") {
		t.Error("the log shows a password")
	}
}
