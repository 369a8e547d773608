package servertest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// fullFiles is the number of temporary files that a backend finds to be full.
const fullFiles = 1000

// FullDisk makes a backend find a full disk whenever it writes a temporary file, even its first,
// until room is called. tried returns how often it has tried. conn must be a superuser's.
func FullDisk(t testing.TB, conn *pgx.Conn, pid string) (tried func() int, room func()) {
	t.Helper()
	folder := filepath.Join(Get(t, conn, "SELECT current_setting('data_directory')"), "base", "pgsql_tmp")
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // if we are root, the server has another user
		t.Fatal(err)
	}
	names := make([]string, fullFiles)
	for i := range names {
		names[i] = filepath.Join(folder, fmt.Sprintf("pgsql_tmp%s.%d", pid, i))
		// the backend may be writing it just now
		if err := os.Symlink("/dev/full", names[i]); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	tried = func() (n int) {
		for _, name := range names {
			if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
				n++
			}
		}
		return n
	}
	return tried, func() {
		for _, name := range names {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}
