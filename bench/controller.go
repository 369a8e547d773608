package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pgtask/conf"
	"pgtask/work"
)

// controller is how tasks get served: by the built program, or inside this one for the sake of a profile.
type controller interface {
	// start serves the configuration in a file until stop is called, which has it drained. What it ends with comes from ended.
	start(ctx context.Context, config string) (stop func() error, ended <-chan error, err error)
	close() error
}

func newController(ctx context.Context, o options) (controller, error) {
	if o.profile != "" {
		return newProfiled(o.profile)
	}
	dir, err := os.MkdirTemp("", "pgtask-bench-")
	if err != nil {
		return nil, err
	}
	b := &built{dir: dir, path: o.program}
	if b.path != "" {
		return b, nil
	}
	b.path = filepath.Join(dir, "pgtask")
	build := exec.CommandContext(ctx, "go", "build", "-o", b.path, "pgtask")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("go build: %w\n%s", err, out), b.close())
	}
	return b, nil
}

// built is the program.
type built struct{ dir, path string }

const drainLimit = 30 * time.Second

func (b *built) start(ctx context.Context, config string) (func() error, <-chan error, error) {
	cmd := exec.CommandContext(ctx, b.path, "--log-level=warn", "run", "--config", config)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = drainLimit
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return cmd.Cancel, ended, nil
}

func (b *built) close() error { return os.RemoveAll(b.dir) }

// profiled serves inside this process, which else does next to nothing while tasks run.
type profiled struct{ file *os.File }

func newProfiled(path string) (controller, error) {
	debug.SetGCPercent(50) // as the program does
	zerolog.SetGlobalLevel(zerolog.WarnLevel)
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &profiled{file}, nil
}

func (p *profiled) start(ctx context.Context, config string) (func() error, <-chan error, error) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	log := zerolog.New(os.Stderr)
	options := conf.Options{Serve: work.Serve, Stop: stop, Level: func(zerolog.Level) {}}
	go func() { ended <- conf.Run(ctx, config, log, options) }()
	return func() error { close(stop); return nil }, ended, nil
}

func (p *profiled) close() error {
	pprof.StopCPUProfile()
	return p.file.Close()
}

var errEnded = errors.New("the controller has ended by itself")

// serve calls body while a controller serves the task table with at most run tasks at once; 0 is the default. The body's context
// ends when the controller does.
func (s *stand) serve(ctx context.Context, run int, body func(context.Context) error) (err error) {
	config, err := os.CreateTemp("", "pgtask-bench-*.json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(config.Name())) }()
	target := map[string]any{"data": database, "user": "postgres"}
	if run > 0 {
		target["run"] = run
	}
	err = json.NewEncoder(config).Encode(map[string]any{"dsn": s.server.DSN("postgres"), "targets": []any{target}})
	if err := errors.Join(err, config.Close()); err != nil {
		return err
	}
	stop, ended, err := s.controller.start(ctx, config.Name())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	result := make(chan error, 1)
	go func() {
		err := <-ended
		cancel(errEnded)
		result <- err
	}()
	err = body(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, errEnded) {
		return errors.Join(cause, <-result, err)
	}
	return errors.Join(err, stop(), <-result)
}
