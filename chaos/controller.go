package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// controller is one of the two controllers: a program that chaos starts again after each kill.
type controller struct {
	program string
	ways    [2]string // configurations, used in turn
	starts  int
	log     *os.File  // of all its processes, one after another
	process *process  // the last one, which may have ended
	away    time.Time // do not start it before this time
}

// process is one run of the program.
type process struct {
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
	sent    bool          // chaos told it to end
	led     atomic.Int64  // when it last became leader, in Unix nanoseconds; 0: never
	paniced atomic.Bool
}

// start fails only if there is no program.
func (c *controller) start() error {
	p := &process{done: make(chan struct{})}
	p.cmd = exec.Command(c.program, "run", "--config", c.ways[c.starts%len(c.ways)])
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	c.starts++
	c.process = p
	go func() {
		defer close(p.done)
		p.read(io.TeeReader(stderr, c.log))
		_ = p.cmd.Wait() // account looks at its state
	}()
	return nil
}

// read follows the output of the process until it ends.
func (p *process) read(log io.Reader) {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case strings.Contains(line, `"message":"leading"`):
			p.led.Store(time.Now().UnixNano())
		case strings.Contains(line, "panic: "), strings.Contains(line, "DATA RACE"):
			p.paniced.Store(true)
		}
		if err != nil {
			return
		}
	}
}

func (c *controller) runs() bool {
	select {
	case <-c.process.done:
		return false
	default:
		return true
	}
}

// signal does nothing to a process that has ended.
func (c *controller) signal(s syscall.Signal) {
	c.process.sent = c.process.sent || s == syscall.SIGTERM
	_ = c.process.cmd.Process.Signal(s)
}

// kill returns when the process is gone.
func (c *controller) kill() {
	if c.process == nil {
		return
	}
	c.process.sent = true
	_ = c.process.cmd.Process.Kill()
	<-c.process.done
}

// account reports the faults of a process that has ended.
func (c *controller) account(r *report) {
	p := c.process
	if !p.sent {
		r.violated("controller ended by itself", p.cmd.ProcessState.String())
	}
	if p.paniced.Load() {
		r.violated("controller panicked", c.log.Name())
	}
}
