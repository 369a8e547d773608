package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pgtaskd/routine"
	"pgtaskd/sql/lock"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

const (
	drainTick  = 200 * time.Millisecond // between two looks at the tasks that remain
	drainReach = 30 * time.Second       // how long a table may be unreachable
)

// Serve serves targets until stop is closed.
type Serve func(ctx context.Context, stop <-chan struct{}) error

// ErrInterrupted is the error of a Drain that was stopped before everything was done.
var ErrInterrupted = errors.New("interrupted before all was done")

// Drained is the result of one target.
type Drained struct {
	Target string `json:"target"`
	Failed int64  `json:"failed"`
	Gone   int64  `json:"gone"`           // not worth running any more
	Left   int64  `json:"left,omitempty"` // wait for a retry, or for a task that does
}

// Drain serves targets until none of their tasks is due or running. Then it shows the tasks that
// have failed since it began. With until, it also waits for tasks planned up to that moment. If
// another controller leads, that controller runs the tasks and Drain waits.
func Drain(ctx context.Context, s *Screen, targets []work.Target, until string, stop <-chan struct{}, serve Serve) error {
	drains := make([]*drain, len(targets))
	for i, t := range targets {
		drains[i] = &drain{s: s, target: t, until: until, least: math.MinInt64}
		if err := drains[i].begin(ctx); err != nil {
			return fmt.Errorf("%s: %w", t.Name(), err)
		}
	}
	halt := make(chan struct{})
	crew := routine.New(ctx)
	defer crew.End()
	var failure error
	served := make(chan struct{})
	crew.Go(func() { defer close(served); failure = serve(crew.Context(), halt) })
	err := watchAll(crew.Context(), drains, stop, served)
	close(halt)
	crew.Wait()
	s.Clear()
	if err := errors.Join(err, failure); err != nil && !errors.Is(err, ErrInterrupted) || ctx.Err() != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	failed, left := false, false
	for _, d := range drains {
		found, err := d.report(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", d.target.Name(), err)
		}
		failed, left = failed || found.Failed > 0, left || found.Left > 0
	}
	switch {
	case err != nil:
		return err
	case failed:
		return ErrFailed
	case left:
		return ErrLeft
	}
	return nil
}

// watchAll returns when all targets are done, or when one of them fails.
func watchAll(ctx context.Context, drains []*drain, stop, served <-chan struct{}) error {
	crew := routine.New(ctx)
	defer crew.End()
	results := make(chan error, len(drains))
	for _, d := range drains {
		crew.Go(func() { results <- d.watch(crew.Context()) })
	}
	defer crew.Wait()
	for range drains {
		select {
		case err := <-results:
			if err != nil {
				crew.End()
				return err
			}
		case <-stop:
			crew.End()
			return ErrInterrupted
		case <-served:
			crew.End()
			return errors.New("the targets are served no more")
		}
	}
	return nil
}

// drain drains one target. It belongs to one goroutine.
type drain struct {
	s      *Screen
	target work.Target
	until  string
	moment any    // until, as the server reads it; nil: each look uses its own time
	began  string // by the server's clock; "": the table was missing
	least  int64  // tasks with lower ids had ended before the drain
}

// begin records the time and the tasks that exist now. It is no error if the table or database is
// missing: the controller may create it.
func (d *drain) begin(ctx context.Context) error {
	b, err := open(ctx, d.target, "drain", rows.Reads)
	if err != nil {
		return nil //nolint:nilerr // watch reports it if it lasts
	}
	defer b.close()
	if err := d.readUntil(ctx, b); err != nil {
		return err
	}
	if err := b.conn.QueryRow(ctx, "SELECT pg_catalog.clock_timestamp()::pg_catalog.text").Scan(&d.began); err != nil {
		return err
	}
	var open, newest int64
	err = b.look(ctx, func() error {
		if err := b.conn.QueryRow(ctx, b.Statement("waiting", nil), true, int64(math.MaxInt64)).Scan(&open, &d.least); err != nil {
			return err
		}
		return b.conn.QueryRow(ctx, b.queries.Text("newest")).Scan(&newest)
	})
	if err != nil {
		return err
	}
	if open == 0 {
		d.least = newest + 1
	}
	leader, err := lock.Leadership(b.Name, false).Holder(ctx, b.conn)
	if err != nil {
		return err
	}
	if leader != nil {
		d.s.Remark("%s: another controller leads (pid %d of role %q), and runs what is due", d.target.Name(), leader.PID, leader.Role)
	}
	return nil
}

func (d *drain) readUntil(ctx context.Context, b *table) error {
	if d.until == "" || d.moment != nil {
		return nil
	}
	moment, err := b.moment(ctx, d.until, 1)
	if err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	d.moment = moment
	return nil
}

// watch returns when nothing is left to do. It reconnects when necessary.
func (d *drain) watch(ctx context.Context) error {
	began, reached := time.Now(), time.Now()
	for {
		done, err := d.session(ctx, began, &reached)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case done:
			return nil
		case time.Since(reached) > drainReach:
			return fmt.Errorf("%s: %w", d.target.Name(), err)
		}
		if !pause(ctx, drainTick) {
			return context.Cause(ctx)
		}
	}
}

// session looks in one session until nothing is left to do, or an error comes.
func (d *drain) session(ctx context.Context, began time.Time, reached *time.Time) (done bool, err error) {
	b, err := open(ctx, d.target, "drain", rows.Reads)
	if err != nil {
		return false, err
	}
	defer b.close()
	if err := d.readUntil(ctx, b); err != nil {
		return false, err
	}
	for {
		var due, runs int64
		err := b.look(ctx, func() error {
			return b.conn.QueryRow(ctx, b.queries.Text("left"), d.moment, lookedAt).Scan(&due, &runs)
		})
		if err != nil {
			return false, err
		}
		*reached = time.Now()
		if due+runs == 0 {
			return true, nil
		}
		if time.Since(began) > progressAfter {
			d.s.Progress(fmt.Sprintf("%s: %s due, %s running", d.target.Name(), counted(due, due+runs >= lookedAt),
				counted(runs, due+runs >= lookedAt)))
		}
		if !pause(ctx, drainTick) {
			return false, ctx.Err()
		}
	}
}

// report shows the tasks that have become FAIL or GONE since the drain began, and those that it
// leaves though they or the tasks that they wait for have begun.
func (d *drain) report(ctx context.Context) (Drained, error) {
	found := Drained{Target: d.target.Name()}
	err := one(ctx, d.target, "drain", rows.Reads, func(b *table) error {
		f := Filter{States: []string{"FAIL", "GONE"}, Since: d.began, least: &d.least}
		err := b.walk(ctx, d.s, f, func(t Task) error {
			if t.State == "FAIL" {
				found.Failed++
			} else {
				found.Gone++
			}
			if d.s.Objects != nil {
				return d.s.Object(t)
			}
			return d.s.Line("%s: %s %d %s: %s", d.target.Name(), t.State, t.ID, t.Group, t.says())
		})
		if err == nil {
			found.Left, err = b.showLeft(ctx, d.s)
		}
		return err
	})
	switch {
	case err != nil:
		return found, err
	case d.s.Objects != nil:
		return found, d.s.Object(found)
	}
	text := fmt.Sprintf("%s: %d FAIL, %d GONE", found.Target, found.Failed, found.Gone)
	if found.Left > 0 {
		text += fmt.Sprintf(", %d left", found.Left)
	}
	return found, d.s.Line("%s", text)
}
