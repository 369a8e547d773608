package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// workRiver works jobs with River's client until ctx ends. FetchCooldown, which limits throughput,
// is the least that River allows (`river bench` has 2 ms), FetchPollInterval that of `river bench`.
// The pool has a connection for each worker that uses one, and some for the client. All else is
// River's default, as is the batch completer.
func workRiver(ctx context.Context, config string) error {
	var c riverConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	work := map[string]riverWork{"no-op": riverNothing, "select": riverSelect, "insert": riverInsert}[c.Kind]
	if work == nil {
		return fmt.Errorf("no jobs of kind %q", c.Kind)
	}
	pc, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return err
	}
	pc.MaxConns = int32(min(c.Workers, 100) + 10)
	background := context.WithoutCancel(ctx)
	pool, err := pgxpool.NewWithConfig(background, pc)
	if err != nil {
		return err
	}
	defer pool.Close()
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[riverArgs]) error { return work(ctx, pool, job) }))
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     1 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.Workers}},
		Workers:           workers,
	})
	if err != nil {
		return err
	}
	if err := client.Start(background); err != nil {
		return err
	}
	<-ctx.Done()
	background, cancel := context.WithTimeout(background, drainLimit)
	defer cancel()
	return client.Stop(background)
}

// riverArgs are of all jobs; their kind is that of river_fill.sql.
type riverArgs struct{}

func (riverArgs) Kind() string { return "bench" }

type riverWork func(context.Context, *pgxpool.Pool, *river.Job[riverArgs]) error

func riverNothing(context.Context, *pgxpool.Pool, *river.Job[riverArgs]) error { return nil }

// riverSelect records the output, which River writes when the job ends.
func riverSelect(ctx context.Context, pool *pgxpool.Pool, _ *river.Job[riverArgs]) error {
	var output int
	if err := pool.QueryRow(ctx, "SELECT 1").Scan(&output); err != nil {
		return err
	}
	return river.RecordOutput(ctx, output)
}

// riverInsert writes a row and the job's end in one transaction.
func riverInsert(ctx context.Context, pool *pgxpool.Pool, job *river.Job[riverArgs]) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO effect VALUES (1)"); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}
