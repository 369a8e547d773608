package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Standby starts another server that follows this one by streaming replication, with the same
// settings, until Promote. It is independent otherwise: each is stopped for itself.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	folder, err := newFolder(s.options)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL standby: %w", err)
	}
	standby := &Server{Bindir: s.Bindir, SocketDir: folder.path, folder: folder, password: s.password, options: s.options}
	if err := s.copyTo(ctx, folder); err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL standby: %w", err), folder.remove())
	}
	if err := standby.startOnFreePort(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL standby: %w", err), folder.remove())
	}
	return standby, nil
}

// copyTo makes a data folder that is a copy of the server's, and follows it.
func (s *Server) copyTo(ctx context.Context, folder *folder) error {
	return folder.run(ctx, s.Bindir, "pg_basebackup", "--pgdata", folder.data(), "--write-recovery-conf",
		"--checkpoint", "fast", "--no-sync",
		"--host", s.SocketDir, "--port", strconv.Itoa(s.Port), "--username", "postgres")
}

// Promote makes a standby a server of its own, and returns when it takes writes.
func (s *Server) Promote(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return errStopped
	}
	return s.folder.run(ctx, s.Bindir, "pg_ctl", "promote", "--pgdata", s.folder.data(), "--wait")
}
