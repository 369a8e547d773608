package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"pgtaskd/server/proxy"
)

// longestPause is the longest time between two faults.
const longestPause = 900 * time.Millisecond

// storm makes one fault after the other for the wanted time, while tasks are inserted and watched.
// The seed alone decides the faults, how they strike, and the pauses between them. At the end it
// repairs everything.
func (s *stand) storm(ctx context.Context, r *report) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	beside, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for _, work := range []func(context.Context, *report) error{s.load, s.sample} {
		workers.Go(func() {
			if err := work(beside, r); err != nil && beside.Err() == nil {
				cancel(err)
			}
		})
	}
	defer workers.Wait()
	defer stop()

	faults, random := s.mode.faults(), rand.New(rand.NewPCG(s.seed, 0))
	for end := time.Now().Add(s.length); time.Now().Before(end); {
		f := pick(faults, random.Float64())
		if err := f.strike(ctx, s, random.Float64()); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		r.struck(f.name)
		if err := s.rest(ctx, r, time.Duration(random.Float64()*float64(longestPause))); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	s.repairs.mend(time.Now().Add(time.Hour))
	s.proxy.Watch(nil)
	if s.away != nil {
		s.away.network(func(p *proxy.Proxy) { p.Watch(nil) })
	}
	return s.tend(ctx, r)
}

// tick is the period for repairs and for controllers.
const tick = 20 * time.Millisecond

// rest waits, and meanwhile makes repairs and starts controllers.
func (s *stand) rest(ctx context.Context, r *report, pause time.Duration) error {
	for end := time.Now().Add(pause); ; {
		s.repairs.mend(time.Now())
		if err := s.tend(ctx, r); err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(min(left, tick)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
