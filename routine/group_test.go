package routine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPanicEndsTheGroup: however the goroutine was started, the process goes on, the context ends
// with the panic as its cause, and Wait returns.
func TestPanicEndsTheGroup(t *testing.T) {
	t.Parallel()
	bad := func() { var none []int; _ = none[len(none)] }
	ended, end := context.WithCancel(context.Background())
	end()
	ways := map[string]func(*Group){
		"Go":    func(g *Group) { g.Go(bad) },
		"After": func(g *Group) { g.After(0, bad) },
		"When":  func(g *Group) { g.When(ended, bad) },
		"Start": func(g *Group) {
			var p *Panic
			if err := <-g.Start(func() error { bad(); return nil }); !errors.As(err, &p) {
				t.Errorf("Start: error is %v", err)
			}
		},
		"Call": func(g *Group) {
			var p *Panic
			if err := g.Call(func() error { bad(); return nil }); !errors.As(err, &p) {
				t.Errorf("Call: error is %v", err)
			}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := New(t.Context())
			way(g)
			<-g.Context().Done()
			g.Wait()
			p := g.Panicked()
			if p == nil || context.Cause(g.Context()) != error(p) {
				t.Fatalf("panic is %v, cause %v", p, context.Cause(g.Context()))
			}
			if !strings.Contains(p.Error(), "index out of range") || !strings.Contains(string(p.Stack), "group_test.go") {
				t.Errorf("%s\n%s", p, p.Stack)
			}
		})
	}
}

// TestWaitCountsWhatIsStopped: Wait does not wait for a stopped goroutine, and counts it once.
func TestWaitCountsWhatIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		after, when := g.After(time.Hour, func() { t.Error("After") }), g.When(ctx, func() { t.Error("When") })
		for i, stop := range []func() bool{after, after, when, when} {
			if stopped := stop(); stopped != (i%2 == 0) {
				t.Errorf("stop %d: %v", i, stopped)
			}
		}
		done := 0
		late := g.After(time.Second, func() { done++ })
		g.Wait()
		if late() || done != 1 {
			t.Errorf("done %d times", done)
		}
		cancel()
	})
}

func TestFirstPanicCounts(t *testing.T) {
	t.Parallel()
	g := New(t.Context())
	for _, text := range []string{"first", "second"} {
		_ = g.Call(func() error { panic(text) })
	}
	if p := g.Panicked(); p == nil || p.Value != "first" {
		t.Errorf("panic is %v", p)
	}
}

func TestPanicIsBounded(t *testing.T) {
	t.Parallel()
	var p *Panic
	if err := Guard(func() error { panic(strings.Repeat("ü\xff", 1<<20)) }); !errors.As(err, &p) {
		t.Fatal(err)
	}
	if len(p.Value) > valueLimit || len(p.Stack) > stackLimit || strings.ToValidUTF8(p.Value, "") != p.Value {
		t.Errorf("%d bytes, stack of %d", len(p.Value), len(p.Stack))
	}
	if err := Guard(func() error { panic(nil) }); !errors.As(err, &p) {
		t.Errorf("panic(nil) is %v", err)
	}
}
