package server

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInstallScriptLooksInTheSamePlaces(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(installScript, "places='\n")
	list, _, found := strings.Cut(rest, "\n'")
	if got := strings.Split(list, "\n"); !found || !slices.Equal(got, places) {
		t.Errorf("install.sh looks in %q\nBindir in %q", got, places)
	}
}

// With -n the script names the package, and does not call the manager.
func TestInstallScriptSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(installScript, "places='\n")
	list, _, _ := strings.Cut(rest, "\n'")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "apt-get"), []byte("#!/bin/sh\necho called >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(installScript, list, "/nowhere", 1)
	cmd := exec.Command("/bin/sh", "-c", script, "install.sh", "-n", "postgresql")
	cmd.Env = []string{"PATH=" + folder}
	says, err := cmd.CombinedOutput()
	if want := "missing: postgresql; install by apt-get: postgresql\n"; string(says) != want || err == nil {
		t.Errorf("it says %q (%v), want %q", says, err, want)
	}
}

func TestNewestServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, version := range []string{"9.6", "10", "15"} {
		fakeServer(t, filepath.Join(dir, "postgresql", version, "bin"))
	}
	if err := os.MkdirAll(filepath.Join(dir, "postgresql", "16", "bin"), 0o755); err != nil { // client only
		t.Fatal(err)
	}
	if got, want := newestServer(dir+"/postgresql/*/bin"), filepath.Join(dir, "postgresql/15/bin"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBindirFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PG_BINDIR", dir)
	if got, err := Bindir(); !errors.Is(err, ErrNoBinaries) {
		t.Errorf("got %q, %v for a folder without binaries", got, err)
	}
	fakeServer(t, dir)
	if got, err := Bindir(); got != dir || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func fakeServer(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
