package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	loadEvery   = 100 * time.Millisecond
	loadSize    = 100 // tasks a time
	loadBacklog = 600 // waiting tasks at which no more are inserted
	sampleEvery = 30 * time.Millisecond
)

// load inserts tasks until the context ends.
func (s *stand) load(ctx context.Context, _ *report) error {
	from := 0
	return s.again(ctx, loadEvery, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text("load.sql"), from, loadSize, loadBacklog, s.remoteOfTasks())
		from += loadSize // one that failed may have been committed
		return err
	})
}

// sample makes the checks that must hold at every moment, until the context ends.
func (s *stand) sample(ctx context.Context, r *report) error {
	return s.again(ctx, sampleEvery, func(conn *pgx.Conn) error {
		if s.mode != remote { // a new leader does not know of runs elsewhere
			if err := r.ask(ctx, conn, "lane over its limit, as seen while it ran", "lane_live.sql"); err != nil {
				return err
			}
		}
		return r.ask(ctx, conn, "two waiting tasks of a key", "key_twice.sql")
	})
}

// again calls body with a connection, again and again. An error of the server in body is reported,
// unless it passes.
func (s *stand) again(ctx context.Context, every time.Duration, body func(*pgx.Conn) error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := s.do(ctx, func(conn *pgx.Conn) error {
			for {
				if err := body(conn); err != nil {
					return err
				}
				select {
				case <-ticker.C:
				case <-ctx.Done():
					return nil
				}
			}
		})
		if ctx.Err() != nil {
			return nil
		}
		if answer := new(pgconn.PgError); errors.As(err, &answer) && !passes(answer) {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// passes tells the answers of a server that stops or starts (class 57P), and that an INSERT of
// several keys has met tasks that return to wait under keys of theirs: the server ends one of the
// two then.
func passes(answer *pgconn.PgError) bool {
	return len(answer.Code) == 5 && (answer.Code[:3] == "57P" || answer.Code == "40P01")
}
