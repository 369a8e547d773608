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

// fullFiles is how many temporary files a backend tries in vain at most.
const fullFiles = 1000

// FullDisk has a backend find a full disk wherever it writes a temporary file, be it its first,
// until room is called. tried is how many it has tried to write. conn is that of a superuser.
func FullDisk(t testing.TB, conn *pgx.Conn, pid string) (tried func() int, room func()) {
	t.Helper()
	folder := filepath.Join(Get(t, conn, "SELECT current_setting('data_directory')"), "base", "pgsql_tmp")
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // the server's user is not ours where we are root
		t.Fatal(err)
	}
	names := make([]string, fullFiles)
	for i := range names {
		names[i] = filepath.Join(folder, fmt.Sprintf("pgsql_tmp%s.%d", pid, i))
		if err := os.Symlink("/dev/full", names[i]); err != nil && !errors.Is(err, fs.ErrExist) { // one that it is just writing
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
