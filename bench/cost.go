package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/bench/proc"
)

// cost is what one task takes: processor time of the program and of the server, and bytes of WAL.
type cost struct {
	program, server time.Duration
	wal             float64
}

// sum is the processor time of both.
func (c cost) sum() time.Duration { return c.program + c.server }

// reading is what a program and the server have used since they started.
type reading struct {
	program, server time.Duration
	wal             int64
}

// per is the cost of each of so many tasks that ran between two readings.
func (r reading) per(before reading, tasks int) cost {
	n := time.Duration(max(tasks, 1))
	return cost{(r.program - before.program) / n, (r.server - before.server) / n, float64(r.wal-before.wal) / float64(n)}
}

// read reads what a program and the server have used. Processor times are 0 where the system does
// not show them.
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

// metered has so many tasks served, and notes what each has cost.
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

// costs are the medians over the rounds of the program's and the server's processor time in µs, or
// nothing where the system does not show them.
func costs(rounds []figure, of func(figure) cost) string {
	program := median(rounds, func(f figure) float64 { return microseconds(of(f).program) })
	server := median(rounds, func(f figure) float64 { return microseconds(of(f).server) })
	if program+server == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f + %.0f", program, server)
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
