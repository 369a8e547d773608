package riverclient

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

// Env makes bench, or its test, run River's client. Its value is a Config in JSON.
const Env = "PGTASKD_BENCH_RIVER"

// Config tells which jobs to work, and how many at once.
type Config struct {
	DSN, Kind string
	Workers   int
}

// stopLimit is how long running jobs may go on at the end.
const stopLimit = 30 * time.Second

// Work works jobs with River's client until ctx ends. FetchCooldown, which limits throughput, is
// the least that River allows (`river bench` has 2 ms). FetchPollInterval is that of `river bench`.
// The pool has a connection for each worker that uses one, and some for the client. All else, and
// so the batch completer, is River's default.
func Work(ctx context.Context, config string) error {
	var c Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	work := map[string]jobWork{"no-op": nothing, "select": selects, "insert": inserts}[c.Kind]
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
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[jobArgs]) error { return work(ctx, pool, job) }))
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
	background, cancel := context.WithTimeout(background, stopLimit)
	defer cancel()
	return client.Stop(background)
}

// jobArgs are the arguments of all jobs; river_fill.sql uses the same kind.
type jobArgs struct{}

func (jobArgs) Kind() string { return "bench" }

type jobWork func(context.Context, *pgxpool.Pool, *river.Job[jobArgs]) error

func nothing(context.Context, *pgxpool.Pool, *river.Job[jobArgs]) error { return nil }

// selects records the output; River writes it when the job ends.
func selects(ctx context.Context, pool *pgxpool.Pool, _ *river.Job[jobArgs]) error {
	var output int
	if err := pool.QueryRow(ctx, "SELECT 1").Scan(&output); err != nil {
		return err
	}
	return river.RecordOutput(ctx, output)
}

// inserts writes a row and the job's end in one transaction.
func inserts(ctx context.Context, pool *pgxpool.Pool, job *river.Job[jobArgs]) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO effect VALUES (1)"); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}
