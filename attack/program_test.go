//go:build slow

package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is a running `pgtaskd run`.
type program struct {
	cmd  *exec.Cmd
	log  *record
	done chan struct{} // closed when it has ended
}

// run starts `pgtaskd run` for the time of a test.
func run(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(pgtaskd, append([]string{"run"}, args...)...), log: newRecord(), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in its log
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() || os.Getenv("SHOW") != "" {
			t.Logf("pgtaskd run said:\n%s", tail(p.log.String()))
		}
	})
	return p
}

// tail is the end of a text, which says most.
func tail(text string) string {
	const most = 1500
	return text[max(0, len(text)-most):]
}

// stop drains it.
func (p *program) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Error("pgtaskd does not end after SIGTERM")
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// line is one of the log.
type line struct{ Level, Target, Message, Error, Hint string }

func (l line) bad() bool { return l.Level == "warn" || l.Level == "error" }

func (l line) String() string { return fmt.Sprint(l.Message, ": ", l.Error, " / ", l.Hint) }

// lines are those of a target, from a place in the log on.
func (p *program) lines(target string, from int) (lines []line) {
	for text := range strings.Lines(p.log.String()[from:]) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.Target == target {
			lines = append(lines, l)
		}
	}
	return lines
}

// says waits for a line of a target, from a place in the log on, and returns it; false: it did not come.
func (p *program) says(target string, from int, limit time.Duration, right func(line) bool) (line, bool) {
	deadline := time.After(limit)
	for {
		grown := p.log.grown()
		for _, l := range p.lines(target, from) {
			if right(l) {
				return l, true
			}
		}
		select {
		case <-grown:
		case <-p.done:
			return line{}, false
		case <-deadline:
			return line{}, false
		}
	}
}

func leading(l line) bool { return l.Message == "leading" }

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

// shell runs a program to its end.
func shell(t *testing.T, stdin, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, faults bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &faults
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return out.String(), faults.String(), cmd.ProcessState.ExitCode()
}
