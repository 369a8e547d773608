package smoke

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is a running pgtaskd.
type program struct {
	cmd  *exec.Cmd
	log  *record
	done chan struct{} // closed when it has ended
	err  error         // of its end; read after done
}

// start runs pgtaskd in the background. Its end must be awaited.
func start(args ...string) (*program, error) { return startAs(pgtaskd, args...) }

// startAs is start of another build.
func startAs(path string, args ...string) (*program, error) {
	p := &program{cmd: exec.Command(path, args...), log: newRecord(), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// run is start for one test, at whose end the program is killed if it still runs.
func run(t *testing.T, args ...string) *program {
	t.Helper()
	return runAs(t, pgtaskd, args...)
}

// runAs is run of another build.
func runAs(t *testing.T, path string, args ...string) *program {
	t.Helper()
	p, err := startAs(path, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("pgtaskd %s:\n%s", strings.Join(args, " "), p.log)
		}
		if strings.Contains(p.log.String(), "DATA RACE") {
			t.Errorf("pgtaskd has a data race:\n%s", p.log)
		}
	})
	return p
}

// kill ends it as a crash would, and waits for its end.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *program) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end of the program and compares its status.
func (p *program) exits(t *testing.T, within time.Duration, status int) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(within):
		t.Fatalf("pgtaskd has not ended within %v:\n%s", within, p.log)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("pgtaskd has ended with %d (%v), want %d:\n%s", got, p.err, status, p.log)
	}
}

// says waits until the log has the text so many times.
func (p *program) says(t *testing.T, text string, times int) {
	t.Helper()
	deadline := time.After(patience)
	for {
		grown := p.log.grown()
		if strings.Count(p.log.String(), text) >= times {
			return
		}
		select {
		case <-grown:
		case <-p.done:
			if strings.Count(p.log.String(), text) < times {
				t.Fatalf("pgtaskd has ended without saying %q:\n%s", text, p.log)
			}
			return
		case <-deadline:
			t.Fatalf("pgtaskd has not said %q:\n%s", text, p.log)
		}
	}
}

// record keeps what a program writes, and tells those who wait that there is more.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newRecord() *record { return &record{more: make(chan struct{})} }

func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.more)
	r.more = make(chan struct{})
	return r.text.Write(text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// grown is closed when more is written than there is now.
func (r *record) grown() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.more
}

// command runs pgtaskd to its end.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return shell(t, stdin, pgtaskd, args...)
}

// shell runs a program to its end.
func shell(t *testing.T, stdin, name string, args ...string) (stdout, stderr string, status int) {
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
