package server

import (
	"errors"
	"os"
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
