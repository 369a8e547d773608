package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"pgtaskd/bench/riverclient"
	"pgtaskd/human"
)

// beside is the rate of a backlog compared with River's rate for as many jobs.
type beside struct {
	name     string
	jobs     riverJobs
	tasks    backlog
	bar, aim float64 // parts of River's rate

	seen, peerSeen float64 // rates of the last round; 0: none yet
}

// besideRiver returns the rows that compare with River. pgtaskd runs no task without SQL, so SELECT
// 1 is compared with River's jobs that do nothing.
func besideRiver() []row {
	at := func(run int) backlog {
		return backlog{input: "SELECT 1", output: "1", lanes: 1, max: run - 1, run: run}
	}
	writing := at(32)
	writing.input, writing.output, writing.effects = "INSERT INTO effect VALUES (1)", "INSERT 0 1", true
	return []row{
		&beside{name: "River no-op, 1000 workers; SELECT 1, run 16", jobs: riverJobs{"no-op", 1000}, tasks: oneLane, bar: 1, aim: 2.5},
		&beside{name: "SELECT 1 with its output, 16 at once", jobs: riverJobs{"select", 16}, tasks: at(16), bar: 2, aim: 2.5},
		&beside{name: "SELECT 1 with its output, 100 at once", jobs: riverJobs{"select", 100}, tasks: at(100), bar: 2, aim: 2.5},
		&beside{name: "INSERT of a row, 32 at once, exactly once", jobs: riverJobs{"insert", 32}, tasks: writing, bar: 2, aim: 3.5},
	}
}

func (b *beside) title() string { return b.name }

func (b *beside) measure(ctx context.Context, s *stand) (_ []figure, err error) {
	river, err := s.atRiver(ctx)
	if err != nil {
		return nil, err
	}
	b.peerSeen, err = river.longEnough(cmp.Or(b.peerSeen, 1000),
		func(count int) (time.Duration, error) { return b.jobs.serve(ctx, river, count) })
	if err != nil {
		return nil, err
	}
	b.seen, err = b.tasks.rate(ctx, s, cmp.Or(b.seen, b.peerSeen))
	f := figure{name: b.name, value: b.seen, peer: b.peerSeen, bar: b.bar, aim: b.aim, cost: s.cost, peerCost: river.cost}
	return []figure{f}, err
}

// atRiver returns a stand with River's tables, in another database on the same server.
func (s *stand) atRiver(ctx context.Context) (*stand, error) {
	if s.river != nil {
		return s.river, nil
	}
	river, err := s.another(ctx, "river")
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, river.db.dsn())
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return nil, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	s.river = river
	return river, err
}

// riverJobs are equal jobs of one kind; River works this many of them at once.
type riverJobs struct {
	kind    string
	workers int
}

// serve returns the time from the first start of a job until the table shows all ends.
func (j riverJobs) serve(ctx context.Context, s *stand, count int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit,
		fmt.Errorf("%d jobs of River have not ended within %s", count, human.Duration(runLimit)))
	defer cancel()
	if err := s.db.execute(ctx, "TRUNCATE river_job, effect"); err != nil {
		return 0, err
	}
	if _, err := s.db.conn.Exec(ctx, text("river_fill.sql"), count); err != nil {
		return 0, err
	}
	if err := s.db.execute(ctx, "VACUUM (ANALYZE) river_job", "CHECKPOINT"); err != nil {
		return 0, err
	}
	p, err := j.start(ctx, s.db.dsn())
	if err != nil {
		return 0, err
	}
	var seen time.Time
	err = p.during(ctx, func(ctx context.Context, p *process) error {
		err := s.metered(ctx, p, count, func() error { return s.db.await(ctx, text("river_ended.sql")) })
		if err != nil {
			return err
		}
		seen, err = s.db.now(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	var good, outputs, effects int
	err = s.db.conn.QueryRow(ctx, text("river_verify.sql"), seen).Scan(&good, &outputs, &effects, &took)
	if err == nil && (good != count || j.kind == "select" && outputs != count || j.kind == "insert" && effects != count) {
		err = fmt.Errorf("of %d jobs of River %d were completed, with %d outputs and %d effects", count, good, outputs, effects)
	}
	return took, err
}

// start starts River's client as a process of its own, like pgtaskd.
func (j riverJobs) start(ctx context.Context, dsn string) (*process, error) {
	config, err := json.Marshal(riverclient.Config{DSN: dsn, Kind: j.kind, Workers: j.workers})
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), riverclient.Env+"="+string(config))
	return launch(cmd)
}

// riverVersion returns the version of River's module.
func riverVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/riverqueue/river" {
			return module.Version
		}
	}
	return "?"
}
