package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pgtaskd/major"
)

// folder is the folder of one server: data, socket and log. Nobody else may enter it, so trust on
// the socket trusts only the server's own user and root. If we are root, we use root alone to reach
// its files: the folder belongs to a lesser user, whose symbolic links must not lead us out of it.
type folder struct {
	path  string
	root  *os.Root
	owner owner
	guard *guard
}

// Names below the folder.
const (
	dataName     = "data"
	settingsName = "data/pgtaskd.conf"
	logName      = "log"
	passwordName = "password"
)

// maxSocketDir leaves room for "/.s.PGSQL.12345.lock": every system allows 103 bytes for a socket's
// path.
const maxSocketDir = 80

// newFolder makes the folder of a server with these options. It is in memory if the data need not
// survive a crash of the machine.
func newFolder(options Options) (*folder, error) {
	owner, err := findOwner()
	if err != nil {
		return nil, err
	}
	parent, err := findParent(owner, options.Settings["fsync"] == "off")
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, "pgtaskd-")
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, owner: owner}
	if f.root, err = os.OpenRoot(path); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	err = owner.chown(f.root, ".")
	if err == nil {
		f.guard, err = startGuard(path, owner)
	}
	if err != nil {
		return nil, errors.Join(err, f.root.Close(), os.Remove(path))
	}
	return f, nil
}

// findParent returns the first temporary folder that the server's user can reach and whose path is
// short enough for a socket. Root's own may be below a home that is closed to others. With memory
// it tries a folder in memory first.
func findParent(owner owner, memory bool) (string, error) {
	candidates := []string{os.TempDir(), "/tmp", "/var/tmp"}
	if dir, ok := inMemory(); memory && ok {
		candidates = slices.Insert(candidates, 0, dir)
	}
	for _, candidate := range candidates {
		dir, err := filepath.EvalSymlinks(candidate)
		if err == nil && len(dir)+len("/pgtaskd-1234567890") <= maxSocketDir && owner.reaches(dir) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s can reach none of the temporary folders %s, or their paths are too long for a socket: set TMPDIR",
		owner.name, strings.Join(candidates, ", "))
}

func (f *folder) data() string { return filepath.Join(f.path, dataName) }

// initdb makes the data folder, and returns the superuser's new password for TCP.
func (f *folder) initdb(ctx context.Context, bindir string) (password string, err error) {
	password = rand.Text()
	if err := f.write(passwordName, password); err != nil {
		return "", err
	}
	if err := f.run(ctx, bindir, "initdb", "--pgdata", f.data(), "--username", "postgres",
		"--pwfile", filepath.Join(f.path, passwordName), "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--locale", "C", "--no-sync"); err != nil {
		return "", err
	}
	if err := f.closePublic(ctx, bindir); err != nil {
		return "", err
	}
	return password, errors.Join(f.root.Remove(passwordName), f.include())
}

// closePublic takes from PUBLIC the right to create in the schema public: pgtaskd serves no superuser's table where everybody may create objects.
func (f *folder) closePublic(ctx context.Context, bindir string) error {
	version, err := f.root.ReadFile("data/PG_VERSION")
	if err != nil || major.ClosedPublic.In(major.Version(string(version))) {
		return err
	}
	for _, database := range []string{"template1", "postgres"} {
		cmd := exec.CommandContext(ctx, filepath.Join(bindir, "postgres"), "--single", "-F", "-D", f.data(), database)
		cmd.Stdin = strings.NewReader("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		f.owner.adopt(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("postgres --single: %w\n%s", err, out)
		}
	}
	return nil
}

// run runs a program of PostgreSQL as the server's user.
func (f *folder) run(ctx context.Context, bindir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(bindir, program), args...)
	f.owner.adopt(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// include appends our settings to initdb's postgresql.conf.
func (f *folder) include() error {
	conf, err := f.root.OpenFile("data/postgresql.conf", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(conf, "include = %s\n", quote(filepath.Base(settingsName)))
	return errors.Join(err, conf.Close())
}

// configure writes pg_hba.conf and our settings. It can be called again with another port.
func (f *folder) configure(port int, options Options) error {
	var conf strings.Builder
	fmt.Fprintf(&conf, "listen_addresses = '127.0.0.1'\nport = %d\n", port)
	fmt.Fprintf(&conf, "unix_socket_directories = %s\n", quote(f.path))
	for _, name := range slices.Sorted(maps.Keys(options.Settings)) {
		fmt.Fprintf(&conf, "%s = %s\n", name, quote(options.Settings[name]))
	}
	hba := append(slices.Clone(options.HBA), "local all all trust", "local replication all trust",
		"host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256", "")
	return errors.Join(
		f.write(settingsName, conf.String()),
		f.write("data/pg_hba.conf", strings.Join(hba, "\n")),
	)
}

// write makes or replaces a file of the server's user.
func (f *folder) write(name, content string) error {
	if err := f.root.WriteFile(name, []byte(content), 0o600); err != nil {
		return err
	}
	return f.owner.chown(f.root, name)
}

// remove deletes the folder. No server may run in it.
func (f *folder) remove() error {
	return errors.Join(f.root.Close(), os.RemoveAll(f.path), f.guard.release())
}
