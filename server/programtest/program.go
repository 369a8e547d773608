package programtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// Build compiles the program in the parent of the working directory and puts it into folder; with
// the race detector, or without cgo. If PGTASKD is set in the environment, it names a program that
// is already built.
func Build(folder string, race bool) (path string, err error) {
	if path := os.Getenv("PGTASKD"); path != "" {
		return filepath.Abs(path)
	}
	path = filepath.Join(folder, "pgtaskd")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = ".." // which may be another module
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

// Program is a running program.
type Program struct {
	Log  *Record       // its output
	Done chan struct{} // closed when it has ended

	cmd *exec.Cmd
	err error // how it ended; read only after Done
}

// Start runs a program in the background. The program dies with the process that started it.
func Start(path string, args ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(path, args...), Log: new(Record), Done: make(chan struct{})}
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

// Run is Start for one test: it kills the program when the test ends.
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

// PID is the program's process id.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Kill ends the program as a crash would, and waits for its end.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.Done
}

// Signal sends a signal to the program.
func (p *Program) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Drain asks the program to end, waits, and returns its error. It kills a program that does not end
// in time.
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

// Exits waits for the program's end and compares its exit status.
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

// Says waits until the program's log is right. It returns false if the program ends first, or the
// time is over.
func (p *Program) Says(within time.Duration, right func(log string) bool) (is bool) {
	servertest.Comes(within, func() bool {
		ended := p.ended()
		is = right(p.Log.String())
		return is || ended
	})
	return is
}

func (p *Program) ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// Peak returns the most memory in bytes that the program has used since the last call. Only on
// Linux.
func (p *Program) Peak(t *testing.T) (bytes float64) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/", p.PID())
	status, err := os.ReadFile(folder + "status")
	if err != nil {
		t.Fatal(err)
	}
	found := highWater.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no peak of memory in %s", status)
	}
	kB, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder+"clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	return kB * 1024
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

// Record keeps the output of a program.
type Record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the output.
func (r *Record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

// String returns the whole output.
func (r *Record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
