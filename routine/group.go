package routine

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Group starts goroutines and waits for them. Any goroutine may call its methods. It keeps the
// first panic only: later ones usually follow from it.
type Group struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	mu    sync.Mutex
	panic *Panic
}

// New returns a group whose context ends with the parent, at End, and at a panic.
func New(parent context.Context) *Group {
	g := &Group{}
	g.ctx, g.cancel = context.WithCancelCause(parent)
	return g
}

// Context returns a context that ends when the group's goroutines must end.
func (g *Group) Context() context.Context { return g.ctx }

// Panicked returns the first panic, or nil.
func (g *Group) Panicked() *Panic {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panic
}

// End ends the group's context.
func (g *Group) End() { g.cancel(nil) }

// Wait returns when all goroutines of the group have ended. It also waits for those of After and
// When that are neither started nor stopped.
func (g *Group) Wait() { g.running.Wait() }

// Go starts a goroutine.
func (g *Group) Go(do func()) {
	g.running.Go(func() {
		defer g.recovered(nil)
		do()
	})
}

// Start starts a goroutine. The channel delivers its error, or its *Panic.
func (g *Group) Start(do func() error) <-chan error {
	ended := make(chan error, 1)
	g.Go(func() { ended <- g.Call(do) })
	return ended
}

// Call calls do in the caller's goroutine. If do panics, the error is a *Panic.
func (g *Group) Call(do func() error) (err error) {
	defer g.recovered(&err)
	return do()
}

// After starts a goroutine when d has passed. stop prevents that, and reports whether it did. Wait
// returns only after one of the two.
func (g *Group) After(d time.Duration, do func()) (stop func() bool) {
	return g.later(do, func(do func()) func() bool { return time.AfterFunc(d, do).Stop })
}

// When starts a goroutine when ctx ends; otherwise it is like After.
func (g *Group) When(ctx context.Context, do func()) (stop func() bool) {
	return g.later(do, func(do func()) func() bool { return context.AfterFunc(ctx, do) })
}

// later counts a goroutine from now until it has ended or is stopped.
func (g *Group) later(do func(), start func(func()) (stop func() bool)) func() bool {
	g.running.Add(1)
	stop := start(func() {
		defer g.running.Done()
		defer g.recovered(nil)
		do()
	})
	return func() bool {
		stopped := stop()
		if stopped {
			g.running.Done()
		}
		return stopped
	}
}

// recovered keeps the panic of the function that defers it, if there is one.
func (g *Group) recovered(err *error) {
	value := recover()
	if value == nil {
		return
	}
	p := caught(value)
	g.mu.Lock()
	if g.panic == nil {
		g.panic = p
	}
	g.mu.Unlock()
	g.cancel(p)
	if err != nil {
		*err = p
	}
}

// Panic is a panic as an error.
type Panic struct {
	Value string // at most 1 kB
	Stack []byte // of the goroutine, at most 16 kB
}

const (
	valueLimit = 1 << 10
	stackLimit = 16 << 10
)

func (p *Panic) Error() string { return "panic: " + p.Value }

// Guard calls do, and returns its panic as an error.
func Guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = caught(value)
		}
	}()
	return do()
}

// caught makes a Panic of a recovered value. The caller must still be on the stack of the panic.
func caught(value any) *Panic {
	text := strings.ToValidUTF8(fmt.Sprint(value), string(utf8.RuneError))
	text = strings.ToValidUTF8(text[:min(len(text), valueLimit)], "")
	stack := debug.Stack()
	return &Panic{Value: text, Stack: bytes.Clone(stack[:min(len(stack), stackLimit)])}
}
