package work

import (
	"context"
	"sync/atomic"
	"time"

	"pgtaskd/human"
	"pgtaskd/work/run"
)

// Live are the settings of a target that take effect without a drain: nothing that runs is
// cancelled for them.
type Live struct {
	Sleep, Grace, Idle time.Duration
	Run                int
	OutputLimit        int64
	OutputFail         bool
	Keep               Keep
}

// limits are those of them that runners have to know.
func (l Live) limits() run.Limits {
	return run.Limits{Run: l.Run, OutputLimit: l.OutputLimit, OutputFail: l.OutputFail}
}

func (t Target) live() Live {
	return Live{Sleep: t.Sleep, Grace: t.Grace, Idle: t.Idle, Run: t.Run, OutputLimit: t.OutputLimit, OutputFail: t.OutputFail, Keep: t.Keep}
}

// Adopt returns t with those settings of another that take effect without a drain.
func (t Target) Adopt(other Target) Target {
	t.Sleep, t.Grace, t.Idle, t.Run, t.Keep = other.Sleep, other.Grace, other.Idle, other.Run, other.Keep
	t.OutputLimit, t.OutputFail = other.OutputLimit, other.OutputFail
	return t
}

// Changes hands such settings to the loop that serves a target. Any goroutine may use it; of a nil
// one nothing comes.
type Changes struct {
	latest atomic.Pointer[Live]
	poke   chan struct{} // capacity 1, so pokes coalesce
}

// NewChanges returns one that says nothing yet.
func NewChanges() *Changes { return &Changes{poke: make(chan struct{}, 1)} }

// Set makes the settings of t those that count.
func (c *Changes) Set(t Target) {
	live := t.live()
	c.latest.Store(&live)
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// get is what was set last, nil if nothing was.
func (c *Changes) get() *Live {
	if c == nil {
		return nil
	}
	return c.latest.Load()
}

// Poked tells that there is something to get.
func (c *Changes) Poked() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.poke
}

// change takes up settings that have changed.
func (l *loop) change(context.Context) error {
	latest := l.target.Changes.get()
	if latest == nil || latest == l.live.Load() {
		return nil
	}
	l.Lanes.Resize(latest.Run)
	l.live.Store(latest)
	limits := latest.limits()
	l.Limits.Store(&limits)
	l.keeping.restart()
	l.log.Info().Int("run", latest.Run).Str("sleep", human.Duration(latest.Sleep)).Str("grace", human.Duration(latest.Grace)).Str("idle", human.Duration(latest.Idle)).
		Int64("output_limit", latest.OutputLimit).Msg("settings changed")
	return nil
}
