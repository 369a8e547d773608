package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one run of the postgres program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
}

// startProcess returns when the server accepts connections. A goroutine waits for the program and
// lives as long as it does.
func startProcess(ctx context.Context, bindir string, f *folder, environment []string) (*process, error) {
	// the server inherits it, so it may belong to root
	log, err := f.root.OpenFile(logName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(bindir, "postgres"), "-D", f.data())
	cmd.Stdout, cmd.Stderr = log, log
	f.owner.adopt(cmd)
	cmd.Env = append(cmd.Env, environment...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the log tells how it ended
		close(p.done)
	}()
	if err := p.awaitReady(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("%w; its log:\n%s", err, logSince(f, begin)), p.stop(syscall.SIGQUIT))
	}
	return p, nil
}

// awaitReady waits until postmaster.pid says that the server accepts connections.
func (p *process) awaitReady(ctx context.Context, f *folder) error {
	for !p.isReady(f) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-p.done:
			return errors.New("it ended before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("waiting until it is ready: %w", ctx.Err())
		}
	}
	return nil
}

// isReady also compares the pid: after a kill the file may be left from the last run. A standby
// that accepts no connections counts as ready.
func (p *process) isReady(f *folder) bool {
	content, err := f.root.ReadFile("data/postmaster.pid")
	if err != nil {
		return false
	}
	const pidLine, statusLine = 0, 7
	lines := strings.Split(string(content), "\n")
	return len(lines) > statusLine && lines[pidLine] == strconv.Itoa(p.cmd.Process.Pid) &&
		slices.Contains([]string{"ready", "standby"}, strings.TrimSpace(lines[statusLine]))
}

// stop sends a signal and waits for the end of the program, which may have ended before.
func (p *process) stop(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("PostgreSQL server: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill() // it may have ended just now
		<-p.done
		return fmt.Errorf("PostgreSQL server: did not stop within %d s, killed", stopTimeout/time.Second)
	}
}

// logSince returns the log after an offset.
func logSince(f *folder, offset int64) string {
	content, err := f.root.ReadFile(logName)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(content[min(offset, int64(len(content))):]))
}
