package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
)

// Standby starts another server with the same settings, which follows this one by streaming
// replication until Promote. A slot keeps the write-ahead log that it has not got yet: a checkpoint
// would remove it. Each of the two must be stopped.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	return start(ctx, &Server{Bindir: s.Bindir, options: s.options, password: s.password}, func(standby *Server) error {
		return s.backup(ctx, standby.folder)
	})
}

// Follow ends the server for good, and starts a standby of another one in its place: with its port
// and socket, and with a new copy of the data.
func (s *Server) Follow(ctx context.Context, primary *Server) error {
	return s.alone(func() (err error) {
		if err := errors.Join(s.process.stop(syscall.SIGQUIT), s.folder.root.RemoveAll(dataName)); err != nil {
			return err
		}
		if err := errors.Join(primary.backup(ctx, s.folder), s.folder.configure(s.Port, s.options)); err != nil {
			return err
		}
		s.process, err = startProcess(ctx, s.Bindir, s.folder, s.environment)
		return err
	})
}

// backup makes the data of a standby. It does not call pg_basebackup, which refuses servers of a
// later major than its own and is not beside every server.
func (s *Server) backup(ctx context.Context, to *folder) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	begin, end := "pg_backup_start('standby', true)", "pg_backup_stop(false)"
	if !major.BackupStart.Of(conn) {
		begin, end = "pg_start_backup('standby', true, false)", "pg_stop_backup(false, false)"
	}
	slot := strings.ReplaceAll(filepath.Base(to.path), "-", "_")
	if _, err := conn.Exec(ctx, "SELECT pg_create_physical_replication_slot('"+slot+"', true), "+begin); err != nil {
		return err
	}
	if err := s.folder.copyData(to); err != nil {
		return err
	}
	var label string
	if err := conn.QueryRow(ctx, "SELECT labelfile FROM "+end).Scan(&label); err != nil {
		return err
	}
	altered, err := s.folder.root.ReadFile("data/postgresql.auto.conf") // ALTER SYSTEM holds for the standby, too
	return errors.Join(
		err,
		to.write("data/backup_label", label),
		to.write("data/postgresql.auto.conf", string(altered)+"primary_conninfo = "+quote(s.DSN("postgres"))+"\nprimary_slot_name = "+slot+"\n"),
		to.write("data/standby.signal", ""),
	)
}

// notCopied are the folders of a running server whose files a standby must not have.
var notCopied = []string{"data/pg_wal", "data/pg_replslot"}

// copyData copies the data folder of a running server. Files may vanish meanwhile.
func (f *folder) copyData(to *folder) error {
	return fs.WalkDir(f.root.FS(), dataName, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) || name == "data/postmaster.pid":
			return nil
		case err != nil:
			return err
		case slices.Contains(notCopied, filepath.Dir(name)):
			return fs.SkipDir // which after a file skips its folder, too
		case !entry.IsDir():
			return f.copyFile(to, name)
		}
		return errors.Join(to.root.Mkdir(name, 0o700), to.owner.chown(to.root, name))
	})
}

func (f *folder) copyFile(to *folder, name string) error {
	from, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer from.Close()
	file, err := to.root.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close(), to.owner.chown(to.root, name))
}
