package conf

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	before = `[{"data": "a"}]`
	after  = `[{"data": "a"}, {"data": "b"}]`
)

// TestAChangeOfTheFileIsSeen: all ways in which the content of a file can change.
func TestAChangeOfTheFileIsSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, in string) (path string)
		change  func(t *testing.T, in string)
	}{
		"written in place": {
			func(t *testing.T, in string) string { return put(t, in, "conf.json", before) },
			func(t *testing.T, in string) {
				if err := os.WriteFile(filepath.Join(in, "conf.json"), []byte(after), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		},
		"another file put in its place": {
			func(t *testing.T, in string) string { return put(t, in, "conf.json", before) },
			func(t *testing.T, in string) { put(t, in, "conf.json", after) },
		},
		"written behind a link": {
			func(t *testing.T, in string) string {
				put(t, in, "real/conf.json", before)
				return link(t, in, "real/conf.json", "conf.json")
			},
			func(t *testing.T, in string) { put(t, in, "real/conf.json", after) },
		},
		"link exchanged": {
			func(t *testing.T, in string) string {
				put(t, in, "one/conf.json", before)
				return link(t, in, "one/conf.json", "conf.json")
			},
			func(t *testing.T, in string) {
				put(t, in, "two/conf.json", after)
				link(t, in, "two/conf.json", "conf.json")
			},
		},
		"link to a folder exchanged, as Kubernetes does": {
			func(t *testing.T, in string) string {
				put(t, in, "mount/..one/conf.json", before)
				link(t, in, "..one", "mount/..data")
				return link(t, in, "..data/conf.json", "mount/conf.json")
			},
			func(t *testing.T, in string) {
				put(t, in, "mount/..two/conf.json", after)
				link(t, in, "..two", "mount/..data")
				if err := os.RemoveAll(filepath.Join(in, "mount/..one")); err != nil {
					t.Fatal(err)
				}
			},
		},
		"folder on the way exchanged": {
			func(t *testing.T, in string) string {
				put(t, in, "releases/1/conf.json", before)
				link(t, in, filepath.Join(in, "releases/1"), "current")
				return filepath.Join(in, "current/conf.json")
			},
			func(t *testing.T, in string) {
				put(t, in, "releases/2/conf.json", after)
				link(t, in, filepath.Join(in, "releases/2"), "current")
			},
		},
		"folder moved away and made again": {
			func(t *testing.T, in string) string { return put(t, in, "etc/conf.json", before) },
			func(t *testing.T, in string) {
				if err := os.Rename(filepath.Join(in, "etc"), filepath.Join(in, "old")); err != nil {
					t.Fatal(err)
				}
				put(t, in, "etc/conf.json", after)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, c.prepare(t, in))
			run := s.begin("a/public/task")["a/public/task"]
			c.change(t, in)
			s.begin("b/public/task")
			run.goesOn(t)
		})
	}
}

// put writes a file below a folder, or replaces it.
func put(t *testing.T, in, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(in, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	replace(t, path, text)
	return path
}

// link makes a symbolic link below a folder, or replaces it.
func link(t *testing.T, in, to, name string) (path string) {
	t.Helper()
	path = filepath.Join(in, name)
	if err := os.Symlink(to, path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}
