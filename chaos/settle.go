package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// settleLimit is how long tasks may take to end when nothing breaks any more. A task that ran
// during several crashes of the server waits for some ten seconds.
const settleLimit = 2 * time.Minute

// settle waits until all tasks except the chains have ended and each chain has gone on, then drains
// the controllers. The checks find tasks that were too slow.
func (s *stand) settle(ctx context.Context, r *report) error {
	healed := time.Now()
	err := s.do(ctx, func(conn *pgx.Conn) error {
		left := 1
		for left > 0 && time.Since(healed) < settleLimit {
			if err := conn.QueryRow(ctx, text("left.sql"), healed).Scan(&left); err != nil {
				return err
			}
			if err := s.rest(ctx, r, 100*time.Millisecond); err != nil {
				return err
			}
		}
		r.settled = time.Since(healed)
		return r.ask(ctx, conn, "chain that stands still", "chain_still.sql", healed)
	})
	if err == nil {
		err = s.everywhere(ctx, func(conn *pgx.Conn) error {
			return errors.Join(awaitNone(ctx, conn, "backend_live.sql"), r.ask(ctx, conn, "backend stuck", "backend_live.sql"))
		})
	}
	if err != nil {
		return err
	}
	for _, c := range s.controllers {
		c.signal(syscall.SIGTERM)
	}
	for _, c := range s.controllers {
		select {
		case <-c.process.done:
			c.account(r)
			if !c.process.cmd.ProcessState.Success() {
				r.violated("controller not drained", c.process.cmd.ProcessState.String())
			}
		case <-time.After(patience):
			r.violated("controller not drained", "still there after "+patience.String())
			c.kill()
		}
	}
	return s.everywhere(ctx, func(conn *pgx.Conn) error {
		return errors.Join(awaitNone(ctx, conn, "backend_stuck.sql"), r.ask(ctx, conn, "backend left over", "backend_stuck.sql"))
	})
}

// everywhere calls body with a connection to each server that runs tasks.
func (s *stand) everywhere(ctx context.Context, body func(*pgx.Conn) error) error {
	err := s.do(ctx, body)
	if err == nil && s.away != nil {
		err = s.away.do(ctx, body)
	}
	return err
}

// awaitNone returns when a statement finds nothing any more, or when patience is over.
func awaitNone(ctx context.Context, conn *pgx.Conn, statement string) error {
	for begin := time.Now(); time.Since(begin) < patience; {
		found := 0
		err := conn.QueryRow(ctx, fmt.Sprintf("SELECT count(*) FROM (%s) AS s", text(statement))).Scan(&found)
		if err != nil || found == 0 {
			return err
		}
		select {
		case <-time.After(tick):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// check finds violations of a promise: one in each row, described in one text.
type check struct{ promise, statement string }

var checks = []check{
	{"task lost: never ended", "not_ended.sql"},
	{"task vanished", "vanished.sql"},
	{"task failed though nobody hit it", "failed.sql"},
	{"DONE without effect", "done_without_effect.sql"},
	{"chain broken", "chain_broken.sql"},
	{"chain forked", "chain_forked.sql"},
	{"lane over its limit, by start and stop", "lane_over.sql"},
	{"unknown end without a promotion", "unknown.sql"},
	{"effect twice", "effect_twice.sql"},
	{"effect without DONE", "effect_without_done.sql"},
	{"more effects than runs", "effects_over_runs.sql"},
	{"run again for no reason", "runs_over.sql"},
}

// judge checks the tables when nothing runs any more.
func (s *stand) judge(ctx context.Context, r *report) error {
	if s.away != nil {
		if err := s.bringEffects(ctx); err != nil {
			return err
		}
	}
	return s.do(ctx, func(conn *pgx.Conn) error {
		for _, c := range checks {
			if err := r.ask(ctx, conn, c.promise, c.statement); err != nil {
				return fmt.Errorf("%s: %w", c.promise, err)
			}
		}
		return r.count(ctx, conn)
	})
}

// dump keeps the files that may explain a violation, and returns their folder.
func (s *stand) dump(ctx context.Context) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "pgtaskd-chaos-violations-"); err != nil {
		return "", err
	}
	for i, c := range s.controllers {
		content, err := os.ReadFile(c.log.Name())
		if err != nil {
			return folder, err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("controller%d.log", i)), content, 0o600); err != nil {
			return folder, err
		}
	}
	return folder, s.do(ctx, func(conn *pgx.Conn) error {
		for _, table := range []string{"task", "effect", "planned"} {
			file, err := os.Create(filepath.Join(folder, table+".csv"))
			if err != nil {
				return err
			}
			_, err = conn.PgConn().CopyTo(ctx, file, "COPY "+table+" TO STDOUT (FORMAT csv, HEADER)")
			if closed := file.Close(); err == nil {
				err = closed
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
