package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/web/edit"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

const (
	// stepLimit is how long a statement of the background may take.
	stepLimit = 5 * time.Second
	// againAfter is the time until the next look, if there are acts that go on and nothing can be
	// done now: another controller works on them, or the server does not answer.
	againAfter = 10 * time.Second
)

// Seen tells that somebody looks at a target.
func (a *Acts) Seen(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.due[name]; !ok && time.Since(a.seen[name]) > againAfter {
		a.seen[name], a.due[name] = time.Now(), time.Time{}
		a.poke()
	}
}

// look makes the background look for acts that go on in a target.
func (a *Acts) look(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due[name] = time.Time{}
	a.poke()
}

func (a *Acts) poke() {
	select {
	case a.poked <- struct{}{}:
	default:
	}
}

// work goes on with acts until Close. So that it keeps no database awake for nothing, it looks at a
// target only when that comes, when this controller begins to lead it, since another one may have
// died; when an act has begun here; while acts go on there; and while somebody looks at it.
func (a *Acts) work() {
	ctx := a.crew.Context()
	for ctx.Err() == nil {
		t, wait := a.next()
		if wait == 0 {
			goesOn, worked := a.tend(ctx, t)
			again := time.Now()
			if !worked {
				again = again.Add(againAfter)
			}
			a.mu.Lock()
			if _, ok := a.due[t.Name]; goesOn && !ok { // nobody has asked for a look meanwhile
				a.due[t.Name] = again
			}
			a.mu.Unlock()
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-a.poked:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// next returns the target that has waited longest for a look, which is not due then any more; or how
// long to wait for one.
func (a *Acts) next() (t page.Target, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait = againAfter
	for _, one := range a.targets {
		leads := one.Standing().Leads
		if leads && !a.leads[one.Name] {
			a.due[one.Name] = time.Time{}
		}
		a.leads[one.Name] = leads
		at, ok := a.due[one.Name]
		if left := time.Until(at); ok && left < wait {
			t, wait = one, left
		}
	}
	if wait <= 0 {
		delete(a.due, t.Name)
	}
	return t, max(wait, 0)
}

// tend does one step of each act that goes on in a target. goesOn: there are more; worked: this has
// done something.
func (a *Acts) tend(ctx context.Context, t page.Target) (goesOn, worked bool) {
	var ids []int64
	err := a.sessions.Read(ctx, t.Target, stepLimit, func(ctx context.Context, b *rows.Table) (err error) {
		ids, err = edit.Open(ctx, b)
		return err
	})
	if err != nil { // the table may not be there yet; the leader logs why a server does not answer
		return true, false
	}
	for _, id := range ids {
		taken, ended, err := a.step(ctx, t, id)
		if err != nil {
			a.failed(t, err)
		}
		goesOn = goesOn || !ended
		worked = worked || taken && err == nil
	}
	return goesOn, worked
}

// step does one step of an act. If that is refused, it tries with fewer tasks, and remembers that.
func (a *Acts) step(ctx context.Context, t page.Target, id int64) (taken, ended bool, err error) {
	name := fmt.Sprint(id, " ", t.Name)
	most := cmp.Or(a.most[name], edit.Most)
	for {
		err = a.sessions.Change(ctx, t.Target, stepLimit, func(ctx context.Context, b *rows.Table) (err error) {
			taken, ended, err = edit.Next(ctx, b, id, most)
			return err
		})
		if err == nil || most == 1 || !edit.Fewer(err) {
			break
		}
		most = max(most/8, 1)
	}
	if a.most[name] = most * 2; most*2 >= edit.Most || !taken || ended {
		delete(a.most, name)
	}
	return taken, ended, err
}

// failed logs why acts cannot go on now.
func (a *Acts) failed(t page.Target, err error) {
	if !errors.Is(err, context.Canceled) && a.crew.Context().Err() == nil {
		a.log.Warn().Err(err).Str("target", t.Name).Str("retry_in", againAfter.String()).Msg("acts of the page cannot go on")
	}
}
