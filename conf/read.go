package conf

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// File is a parsed configuration.
type File struct {
	// Targets are in the order of the file: Targets[1] is at targets[1], also if the file is a bare
	// array. No two have the same table, as far as pgtaskd can tell without asking the servers.
	Targets []work.Target
	// Log says which lines are logged, and how.
	Log Log
	// HTTP says where the page and the metrics are served.
	HTTP HTTP

	secret bool   // it holds a password
	files  Faults // see Servable
}

// Read reads the file at path, which may be a pipe. Its error comes from the file system, or is
// Faults.
func Read(path string) (*File, error) {
	data, err := remote.ReadInput(context.Background(), path)
	if err != nil {
		return nil, err
	}
	return parseFile(path, data)
}

// parseFile is Parse, with the path of the file in its faults.
func parseFile(path string, data []byte) (*File, error) {
	file, err := Parse(data)
	if err != nil {
		return nil, inFile(path, err)
	}
	for i := range file.files {
		file.files[i].Path = path
	}
	if known, err := os.Stat(path); err == nil && known.Mode().IsRegular() {
		file.HTTP.File, _ = filepath.Abs(path) // without a working directory, commands do without it
	}
	return file, nil
}

// Parse reads a configuration. Its error is Faults, which has all of them.
func Parse(data []byte) (*File, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a byte order mark
	if err := malformed(data); err != nil {
		return nil, err
	}
	r := reader{data: data}
	file := r.file(r.decode())
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	file.secret, file.files = r.secret, r.files
	return file, nil
}

func (r *reader) file(root value) *File {
	file := &File{Log: Log{Level: zerolog.InfoLevel, Tasks: target.LogFailed}}
	cluster := ""
	dsn, entries := remote.Settings{}, map[string]entry{}
	targets := root
	if root.kind == object {
		targets = value{}
		r.object(root, keys{
			"dsn":     into(r, &dsn, r.dsn),
			"cluster": into(r, &cluster, identifier),
			"remotes": func(v value) { entries = r.remotes(v) },
			"log":     func(v value) { file.Log = r.log(v) },
			"http":    func(v value) { file.HTTP = r.http(v) },
			"targets": func(v value) { targets = v },
		})
	}
	switch {
	case targets.kind == list:
		file.Targets = r.targets(targets.items, dsn, cluster)
		if len(file.Targets) == len(targets.items) { // else an unknown name may be that of a target with a fault
			r.allot(file.Targets, entries)
		}
	case targets.kind == "":
		r.fault(value{place: "targets", offset: root.offset}, "is missing")
	case targets.place == "":
		r.fault(root, "must be a list of targets, or an object that has one, not %s", root.kind)
	default:
		r.fault(targets, "must be a list of targets, not %s", targets.kind)
	}
	return file
}

// targets reads the targets and reports those that have the same table.
func (r *reader) targets(items []value, dsn remote.Settings, cluster string) []work.Target {
	targets := make([]work.Target, 0, len(items))
	first := map[string]string{}
	for _, item := range items {
		found := r.found
		t := r.target(item, dsn, cluster)
		if r.found > found {
			continue // the target may be meant for another table
		}
		targets = append(targets, t)
		if place, doubled := first[identity(t)]; doubled {
			r.fault(item, "has the same table as %s: %s", place, t.Name())
		} else {
			first[identity(t)] = item.place
		}
	}
	return targets
}

// readable are the permissions that let others read a file.
const readable fs.FileMode = 0o044

// Exposed returns a warning if the file at path holds passwords and other users of this machine can
// read it; else "".
func (f *File) Exposed(path string) string {
	info, err := os.Stat(path)
	if !f.secret || err != nil || info.Mode()&readable == 0 {
		return ""
	}
	return fmt.Sprintf("the configuration contains a password and others can read it (mode %04o): chmod 0600, or put the password into a password file", info.Mode().Perm())
}

// ExposedDSN returns a warning if a connection string of the command line holds a password; else
// "".
func ExposedDSN(dsn string) string {
	settings, err := remote.Parse(dsn)
	if err != nil || !settings.Secret() {
		return ""
	}
	return "the connection string on the command line contains a password, which every user of this machine can see: use PGPASSWORD, a password file or a configuration"
}
