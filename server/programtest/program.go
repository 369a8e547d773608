package programtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Build compiles the program of the folder above the working directory into a folder, with the race
// detector or without cgo. The environment's PGTASKD names one that is built already.
func Build(folder string, race bool) (path string, err error) {
	if path := os.Getenv("PGTASKD"); path != "" {
		return filepath.Abs(path)
	}
	path = filepath.Join(folder, "pgtaskd")
	cmd := exec.Command("go", "build", "-o", path, "..")
	if race {
		cmd.Args = append(cmd.Args[:2], append([]string{"-race"}, cmd.Args[2:]...)...)
	} else {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Program is one that runs.
type Program struct {
	Log  *Record       // its output
	Done chan struct{} // closed when it has ended

	cmd *exec.Cmd
	err error // of its end; read after Done
}

// Start runs a program in the background. It dies with the process that has started it.
func Start(path string, args ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(path, args...), Log: newRecord(), Done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.Log, p.Log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.Done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// Run is Start for one test, at whose end the program is killed if it still runs.
func Run(t *testing.T, path string, args ...string) *Program {
	t.Helper()
	p, err := Start(path, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("pgtaskd %s:\n%s", strings.Join(args, " "), p.Log)
		}
		if strings.Contains(p.Log.String(), "DATA RACE") {
			t.Errorf("pgtaskd has a data race:\n%s", p.Log)
		}
	})
	return p
}

// PID is its process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Kill ends it as a crash would, and waits for its end.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.Done
}

// Signal sends a signal to it.
func (p *Program) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Drain asks it to end, waits for that, and returns its error. If it does not end in time, it is
// killed.
func (p *Program) Drain(within time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.Done:
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("pgtaskd does not drain:\n%s", p.Log)
	}
	if p.err != nil {
		return fmt.Errorf("pgtaskd: %w\n%s", p.err, p.Log)
	}
	return nil
}

// Exits waits for its end and compares its status.
func (p *Program) Exits(t *testing.T, within time.Duration, status int) {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(within):
		t.Fatalf("pgtaskd has not ended within %v:\n%s", within, p.Log)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("pgtaskd has ended with %d (%v), want %d:\n%s", got, p.err, status, p.Log)
	}
}

// Says waits until its log is right, and tells whether it has become so before it ended and in
// time.
func (p *Program) Says(within time.Duration, right func(log string) bool) bool {
	deadline := time.After(within)
	for {
		grown := p.Log.Grown()
		if right(p.Log.String()) {
			return true
		}
		select {
		case <-grown:
		case <-p.Done:
			return right(p.Log.String())
		case <-deadline:
			return false
		}
	}
}

// Shell runs a program to its end.
func Shell(t *testing.T, stdin, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, faults bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &faults
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return out.String(), faults.String(), cmd.ProcessState.ExitCode()
}
