package server

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries says that no PostgreSQL server is installed, and how to install one.
var ErrNoBinaries = errors.New("no PostgreSQL server binaries found: install PostgreSQL (server/install.sh does it), " +
	"or set PG_BINDIR to the folder of initdb and postgres")

// places are where distributions put the binaries; install.sh has the same list.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/lib/postgresql*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
	"/usr/local/bin",
	"/usr/bin",
}

// Bindir returns the folder of the PostgreSQL binaries to use: $PG_BINDIR if set, else the newest
// server in the first of the usual places that has one, else the answer of pg_config on the PATH.
// The error matches ErrNoBinaries.
func Bindir() (string, error) {
	if dir := os.Getenv("PG_BINDIR"); dir != "" {
		if !hasServer(dir) {
			return "", fmt.Errorf("PG_BINDIR is %s, which does not hold initdb and postgres: %w", dir, ErrNoBinaries)
		}
		return dir, nil
	}
	for _, place := range places {
		if dir := newestServer(place); dir != "" {
			return dir, nil
		}
	}
	out, err := exec.Command("pg_config", "--bindir").Output()
	if dir := strings.TrimSpace(string(out)); err == nil && hasServer(dir) {
		return dir, nil
	}
	return "", ErrNoBinaries
}

// newestServer returns the folder with the highest version in its name among those that match the
// pattern, or "".
func newestServer(pattern string) string {
	dirs, _ := filepath.Glob(pattern) // fails only if the pattern is malformed
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !hasServer(dir) })
	if len(dirs) == 0 {
		return ""
	}
	return slices.MaxFunc(dirs, func(a, b string) int { return slices.Compare(versionIn(a), versionIn(b)) })
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Program returns the path of one of PostgreSQL's programs. It is beside the server's, or on some
// systems only on the PATH.
func (s *Server) Program(name string) string {
	if path, err := exec.LookPath(filepath.Join(s.Bindir, name)); err == nil {
		return path
	}
	return name
}

var number = regexp.MustCompile(`\d+`)

// versionIn returns the numbers in a path: 9 and 6 in /usr/pgsql-9.6/bin.
func versionIn(path string) []int {
	var version []int
	for _, digits := range number.FindAllString(path, -1) {
		n, _ := strconv.Atoi(digits) // a number that is too large becomes its maximum, which is fine
		version = append(version, n)
	}
	return version
}

//go:embed install.sh
var installScript string

// Install lets the system's package manager install PostgreSQL if it is missing. It announces each
// step on out. sudo may ask for a password on the terminal. The error says why Install cannot do
// it.
func Install(ctx context.Context, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", installScript, "install.sh", "postgresql")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("installing PostgreSQL: %w (%w)", ErrNoBinaries, err)
	}
	return nil
}
