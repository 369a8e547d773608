package main

import (
	"context"
	"errors"

	"pgtaskd/bench/proc"
)

// read returns the resources that the program and the server have used. Processor times are 0 if
// the system does not show them.
func (s *stand) read(ctx context.Context, p *process) (r reading, err error) {
	const wal = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8"
	if err := s.db.conn.QueryRow(ctx, wal).Scan(&r.wal); err != nil || !proc.Shown() {
		return r, err
	}
	var err2 error
	if p != nil {
		r.program, err2 = proc.Used(p.pid)
	}
	r.server, err = proc.UsedByServer(s.db.conn.PgConn().PID())
	return r, errors.Join(err, err2)
}

// metered calls serve, which runs this many tasks, and records the cost of each task.
func (s *stand) metered(ctx context.Context, p *process, tasks int, serve func() error) error {
	before, err := s.read(ctx, p)
	if err != nil {
		return err
	}
	if err := serve(); err != nil {
		return err
	}
	after, err := s.read(ctx, p)
	s.cost = after.per(before, tasks)
	return err
}
