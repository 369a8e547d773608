package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/bench/proc"
	"pgtaskd/conf"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// controller runs pgtaskd: the built program, or inside this process for a profile.
type controller interface {
	// start starts a controller for a configuration file.
	start(ctx context.Context, config string) (*process, error)
	close() error
}

// process is a running controller.
type process struct {
	pid   int
	stop  func() error // drains it
	ended <-chan error // its error at the end
}

func newController(ctx context.Context, o options) (controller, error) {
	if o.profile != "" {
		return newProfiled(o.profile)
	}
	dir, err := os.MkdirTemp("", "pgtaskd-bench-")
	if err != nil {
		return nil, err
	}
	b := &built{dir: dir, path: o.program}
	if b.path != "" {
		return b, nil
	}
	b.path = filepath.Join(dir, "pgtaskd")
	if err := build(ctx, b.path); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// build builds the program in its own module, with that module's dependencies, which may differ
// from those of the bench.
func build(ctx context.Context, path string) error {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "pgtaskd").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	cmd.Dir = strings.TrimSpace(string(module))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// built is the built program.
type built struct{ dir, path string }

const drainLimit = 30 * time.Second

func (b *built) start(ctx context.Context, config string) (*process, error) {
	return launch(exec.CommandContext(ctx, b.path, "--log-level=warn", "run", "--config", config))
}

// launch starts a program that SIGTERM stops.
func launch(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = drainLimit
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return &process{pid: cmd.Process.Pid, stop: cmd.Cancel, ended: ended}, nil
}

func (b *built) close() error { return os.RemoveAll(b.dir) }

// profiled serves inside this process, which does almost nothing else while tasks run.
type profiled struct{ file *os.File }

func newProfiled(path string) (controller, error) {
	debug.SetGCPercent(100) // about as often as in the program, which has more live memory
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

func (p *profiled) start(ctx context.Context, config string) (*process, error) {
	stop, ended := make(chan struct{}), make(chan error, 1)
	log := zerolog.New(os.Stderr)
	options := conf.Options{Serve: work.Serve, Stop: stop, Tasks: target.LogNone}
	go func() { ended <- conf.Run(ctx, config, log, options) }()
	return &process{pid: os.Getpid(), stop: func() error { close(stop); return nil }, ended: ended}, nil
}

func (p *profiled) close() error {
	pprof.StopCPUProfile()
	return p.file.Close()
}

var errEnded = errors.New("the controller has ended by itself")

// during calls body and then stops the process. body's context ends when the process does.
func (p *process) during(ctx context.Context, body func(context.Context, *process) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	result := make(chan error, 1)
	go func() {
		err := <-p.ended
		cancel(errEnded)
		result <- err
	}()
	err := body(ctx, p)
	if cause := context.Cause(ctx); errors.Is(cause, errEnded) {
		return errors.Join(cause, <-result, err)
	}
	return errors.Join(err, p.stop(), <-result)
}

// share returns how much of a core the process uses, in percent, while each is called every second.
func (p *process) share(ctx context.Context, watched time.Duration, each func(context.Context) error) (float64, error) {
	before, err := proc.Used(p.pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for next := began; time.Since(began) < watched; next = next.Add(time.Second) {
		if err := each(ctx); err != nil {
			return 0, err
		}
		if err := pause(ctx, min(time.Until(next.Add(time.Second)), watched-time.Since(began))); err != nil {
			return 0, err
		}
	}
	after, err := proc.Used(p.pid)
	return 100 * float64(after-before) / float64(time.Since(began)), err
}
