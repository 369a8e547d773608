package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExposed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		secret bool
	}{
		"dsn":         {`{"dsn": "host=h password=hush", "targets": []}`, true},
		"URI":         {`{"dsn": "postgres://u:hush@h/d", "targets": []}`, true},
		"target":      {`[{"dsn": "password=hush"}]`, true},
		"key":         {`[{"dsn": "sslkey=k sslpassword=hush"}]`, true},
		"remote":      {`{"remotes": {"a": "password=hush"}, "targets": []}`, true},
		"entry":       {`{"remotes": {"a": {"dsn": "password=hush"}}, "targets": []}`, true},
		"default":     {`[{"defaults": {"remote": "host=h password=hush"}}]`, true},
		"none":        {`{"dsn": "host=h user=u passfile=f", "remotes": {"a": "host=h"}, "targets": [{"defaults": {"data": "password"}}]}`, false},
		"empty":       {`{"dsn": "password=''", "targets": []}`, false},
		"none at all": {`[]`, false},
	} {
		file, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		path := filepath.Join(t.TempDir(), "conf.json")
		link := path + ".link"
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for mode, open := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o644: true, 0o611: false} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{path, link} {
				if warning := file.Exposed(path); (warning != "") != (c.secret && open) || strings.Contains(warning, "hush") {
					t.Errorf("%s, mode %o: %q", name, mode, warning)
				}
			}
		}
	}
	for dsn, exposed := range map[string]bool{"host=h": false, "password=p": true, "postgres://u:p@h": true, "postgres://h?password=p": true, "nonsense": false} {
		if got := ExposedDSN(dsn); (got != "") != exposed {
			t.Errorf("%s: %q", dsn, got)
		}
	}
}

// TestExposedIsLogged: each time a configuration is loaded.
func TestExposedIsLogged(t *testing.T) {
	t.Parallel()
	path := file(t, `{"dsn": "password=hush", "targets": []}`)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	s.says("others can read it (mode 0644)")
}
