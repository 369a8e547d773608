package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgtaskd/conf"
	"pgtaskd/remote"
)

// TestServiceManagerIsTold: that the program is ready, alive, and stopping.
func TestServiceManagerIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "60000")
	config := filepath.Join(t.TempDir(), "pgtaskd.json")
	if err := os.WriteFile(config, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := start(t, "--config", config)
	hears := func(want string) {
		t.Helper()
		_ = socket.SetReadDeadline(time.Now().Add(patient))
		for message := make([]byte, 1000); ; {
			n, err := socket.Read(message)
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			if string(message[:n]) == want {
				return
			}
		}
	}
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		hears(want)
	}
	d.signal(syscall.SIGTERM)
	hears("STOPPING=1")
	if err := d.end(); err != nil {
		t.Error(err)
	}
}

// TestServiceExamples: the configuration is valid, and systemd, if installed, accepts the unit.
func TestServiceExamples(t *testing.T) {
	t.Parallel()
	file, err := conf.Read("docs/service/pgtaskd.json")
	if err != nil || len(file.Targets) != 1 || file.Log.Format != conf.FormatJournal {
		t.Fatalf("%v %v", file, err)
	}
	text, err := os.ReadFile("docs/service/pgtaskd.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := string(text)
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed")
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit = strings.ReplaceAll(unit, "/usr/local/bin/pgtaskd", program)
	unit = strings.NewReplacer("User=pgtaskd", "User=root", "Group=pgtaskd", "Group=root").Replace(unit)
	path := filepath.Join(t.TempDir(), "pgtaskd.service")
	if err := os.WriteFile(path, []byte(unit), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(analyze, "verify", path).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "pgtaskd.service") {
			t.Error(line)
		}
	}
	t.Logf("%v %s", err, said)
}

// TestServicePassword: the example's password file has the password that its configuration needs.
func TestServicePassword(t *testing.T) {
	t.Parallel()
	file, err := conf.Read("docs/service/pgtaskd.json")
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile("docs/service/pgpass")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(path, line, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := remote.Own(file.Targets[0].Connect.With(remote.Settings{"passfile": path}))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Password != "change-me" {
		t.Errorf("%s at %s:%d has no password", cfg.User, cfg.Host, cfg.Port)
	}
}
