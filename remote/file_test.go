package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesAreNotWaitedFor: a pipe instead of a needed file is an error at once.
func TestFilesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for keyword, settings := range map[string]Settings{
		"passfile":    {"passfile": pipe},
		"sslrootcert": {"sslrootcert": pipe, "sslmode": "verify-full"},
		"sslcert":     {"sslcert": pipe, "sslkey": "/dev/null"},
		"sslkey":      {"sslcert": "/dev/null", "sslkey": pipe},
		"servicefile": {"service": "some", "servicefile": pipe},
	} {
		_, err := Own(settings.With(Settings{"host": "localhost"}))
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Private+refused.Message, keyword) && keyword != "servicefile" {
			t.Errorf("%s: %v", keyword, err)
		}
	}
	_, err := Credential{File: pipe}.Password(t.Context())
	var refused *Refused
	if !errors.As(err, &refused) || refused.Private != "read "+pipe+": is not a regular file" {
		t.Error(err)
	}
}

// TestNoPasswordFile: people name /dev/null to have none.
func TestNoPasswordFile(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.DevNull, link, link + ".missing", filepath.Dir(link)} {
		if _, err := Own(Settings{"host": "localhost", "passfile": path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
