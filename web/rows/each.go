package rows

import (
	"context"
	"time"

	"pgtaskd/routine"
	"pgtaskd/work"
)

// Each is Read for several targets at once, but on each server only for as many as it has sessions,
// so that none waits for another's. A target takes at most twice the limit, as its server may not
// answer at all. do gets the index of the target. The errors are in the order of the targets.
func (s *Sessions) Each(ctx context.Context, targets []work.Target, limit time.Duration, do func(context.Context, int, *Table) error) []error {
	errs := make([]error, len(targets))
	queues := map[*server]chan int{}
	for i, t := range targets {
		at := s.server(t)
		if queues[at] == nil {
			queues[at] = make(chan int, len(targets))
		}
		queues[at] <- i
	}
	crew := routine.New(ctx)
	for _, queue := range queues {
		close(queue)
		for range min(sessionsMost, len(queue)) {
			crew.Go(func() {
				for i := range queue {
					one, cancel := context.WithTimeout(ctx, 2*limit)
					errs[i] = s.Read(one, targets[i], limit, func(ctx context.Context, b *Table) error { return do(ctx, i, b) })
					if errs[i] != nil && one.Err() != nil && ctx.Err() == nil {
						errs[i] = ErrSlow
					}
					cancel()
				}
			})
		}
	}
	crew.Wait()
	if p := crew.Panicked(); p != nil {
		panic(p)
	}
	crew.End()
	return errs
}
