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
	loadBacklog = 600 // no more are inserted while this many wait
	sampleEvery = 30 * time.Millisecond
)

// load inserts tasks until the context ends.
func (s *stand) load(ctx context.Context, _ *report) error {
	from := 0
	return s.again(ctx, loadEvery, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text("load.sql"), from, loadSize, loadBacklog, s.remotes)
		from += loadSize // the failed INSERT may have been committed
		return err
	})
}

// sample makes the checks that must always hold, until the context ends.
func (s *stand) sample(ctx context.Context, r *report) error {
	return s.again(ctx, sampleEvery, func(conn *pgx.Conn) error {
		if len(s.remotes) == 0 { // a new leader does not know the runs on remotes
			if err := r.ask(ctx, conn, "lane over its limit, as seen while it ran", "lane_live.sql"); err != nil {
				return err
			}
		}
		return r.ask(ctx, conn, "two waiting tasks of a key", "key_twice.sql")
	})
}

// again calls body with a connection, again and again. It reports errors of the server in body,
// unless they pass.
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

// passes tells whether the error is one that goes away: those of a server that stops or starts
// (class 57P), and the deadlock of an INSERT of several keys with tasks that return to wait under
// their keys.
func passes(answer *pgconn.PgError) bool {
	return len(answer.Code) == 5 && (answer.Code[:3] == "57P" || answer.Code == "40P01")
}
