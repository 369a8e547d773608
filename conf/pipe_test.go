package conf

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReloadWaitsForNobody: the file is replaced by something that blocks or never ends. The loaded
// configuration stays, and the supervisor goes on.
func TestReloadWaitsForNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		put  func(path string) error
		says string
	}{
		"a pipe":               {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is not a regular file"},
		"a link to a pipe":     {linked(func(path string) error { return syscall.Mkfifo(path, 0o600) }), "is not a regular file"},
		"a link to a device":   {func(path string) error { return os.Symlink("/dev/zero", path) }, "is not a regular file"},
		"a large file":         {large, "is longer than 8388608 bytes"},
		"a link to large file": {linked(large), "is longer than 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, before)
			s := open(t, path)
			run := s.begin("a/public/task")["a/public/task"]
			exchange := func() {
				t.Helper()
				if err := c.put(path + ".next"); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+".next", path); err != nil {
					t.Fatal(err)
				}
				s.says("cannot read the configuration: read " + path + ": " + c.says)
				s.says("keeping the previous configuration")
			}
			exchange()
			run.goesOn(t)
			s.write(after)
			s.begin("b/public/task")
			exchange()
			run.goesOn(t)
			close(s.stop)
			run.drains(t)
			s.cancel()
			s.finish(context.Canceled)
		})
	}
}

func large(path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, 200<<20)
}

// linked puts a thing elsewhere, and a link to it at path.
func linked(put func(path string) error) func(path string) error {
	return func(path string) error {
		place, err := os.MkdirTemp(filepath.Dir(path), "")
		if err != nil {
			return err
		}
		if err := put(place + "/it"); err != nil {
			return err
		}
		return os.Symlink(place+"/it", path)
	}
}

// pipe returns a pipe whose read end has a path, as a process substitution has.
func pipe(t *testing.T) (path string, to *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	return fmt.Sprintf("/dev/fd/%d", from.Fd()), to
}

func TestRunBeginsWithAPipe(t *testing.T) {
	t.Parallel()
	path, to := pipe(t)
	s := open(t, path)
	for _, part := range []string{before[:5], before[5:]} {
		if _, err := to.WriteString(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	run := s.begin("a/public/task")["a/public/task"]
	s.reload <- syscall.SIGHUP
	s.says("is not a regular file")
	run.goesOn(t)
}

func TestRunEndsWhileItWaitsForAPipe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*stage)
		want error
	}{
		"by the first signal":  {func(s *stage) { close(s.stop) }, nil},
		"by the second signal": {func(s *stage) { s.cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := pipe(t)
			s := open(t, path)
			c.end(s)
			s.finish(c.want)
		})
	}
}

// TestReadIsBounded: Read gives up on an endless file.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := Read("/dev/zero"); err == nil || err.Error() != "read /dev/zero: is longer than 8388608 bytes" {
		t.Error(err)
	}
}
