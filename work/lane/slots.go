package lane

import (
	"sync/atomic"
	"time"
)

// Slots are those of a target: how many tasks may run at once, how many do, and why no others may
// start. Any goroutine may call its exported methods.
type Slots struct {
	now     func() time.Time // the server's clock
	run     atomic.Int64     // most tasks at once
	busy    int              // of run, in use
	closed  atomic.Bool
	halted  atomic.Bool
	suspect *Ticket   // the one that started last, until it ends; nil: none
	quiet   time.Time // until then nothing starts beside it
}

// Resize changes how many tasks may run at once. Those that run over it go on.
func (s *Slots) Resize(run int) { s.run.Store(int64(run)) }

// Close lets nothing be read or started any more, for good.
func (s *Slots) Close() { s.closed.Store(true) }

// IsClosed tells that nothing is to start any more.
func (s *Slots) IsClosed() bool { return s.closed.Load() }

// Halt has nothing start from now on, or lets it start again. What waits stays.
func (s *Slots) Halt(halted bool) { s.halted.Store(halted) }

func (s *Slots) most() int { return int(s.run.Load()) }

func (s *Slots) isFull() bool { return s.busy >= s.most() }

// quarantine is how long nothing else starts beside a suspect: a task during which the server has
// crashed before. If it crashes again, the suspect is the cause.
const quarantine = 10 * time.Second

// isQuiet tells whether nothing may start for now: beside the suspect that runs, or at all.
func (s *Slots) isQuiet() bool { return s.halted.Load() || s.suspect != nil && s.now().Before(s.quiet) }

// begins takes note of a task that starts.
func (s *Slots) begins(t *Ticket) {
	if t.Suspect {
		s.suspect, s.quiet = t, s.now().Add(quarantine)
	}
}

// ends takes note that a task has ended, or has not begun after all.
func (s *Slots) ends(t *Ticket) {
	if s.suspect == t {
		s.suspect = nil
	}
}
