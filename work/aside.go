package work

import (
	"slices"
	"time"

	"pgtaskd/work/ledger"
)

// aside are ends that wait for somebody else: who has locked their rows, or what follows on them.
// They are no reason for others not to start.
type aside struct {
	ends []end
	size int       // of what they keep in memory, in bytes, about
	next time.Time // none is to be tried before
}

const (
	asideEach = 4 << 10   // bytes of each, beside its texts
	asideMost = 128 << 20 // size from which on nothing more starts
)

// take removes ends, and returns them.
func (a *aside) take(which func(*end) bool) (taken []end) {
	a.ends = slices.DeleteFunc(a.ends, func(e end) bool {
		if !which(&e) {
			return false
		}
		a.size -= e.memory()
		taken = append(taken, e)
		return true
	})
	return taken
}

// memory is how much an end keeps, in bytes, about.
func (e *end) memory() int {
	n := asideEach + e.Size()
	for _, text := range []*string{e.task.Row.Input, e.task.Row.Data} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}

// due is when an end is to be written.
func (l *loop) due(e *end) time.Time {
	if until := l.sizer.Until(); (e.backoff.Wait > 0 || e.task.TooLong) && until.After(e.backoff.After) {
		return until
	}
	return e.backoff.After
}

// keep keeps an end for the next try. A heavy one that waits for somebody else gives its slot back:
// that may last. In a drain the session of a marked task stays with its end, which the next leader
// sees.
func (l *loop) keep(e end) {
	switch {
	case e.task.TooLong && e.backoff.Since.IsZero():
		e.backoff.Since = time.Now()
	case e.backoff.After.IsZero() && !e.task.TooLong:
		l.unsaid = append(l.unsaid, e)
		return
	}
	if e.Written != nil && (l.draining.IsZero() || !e.task.Marked) {
		close(e.Written)
		e.Written = nil
	}
	a := &l.aside
	if due := l.due(&e); len(a.ends) == 0 || due.Before(a.next) {
		a.next = due
	}
	a.ends, a.size = append(a.ends, e), a.size+e.memory()
}

// ripe takes the ends that are to be tried again by now, those first that have waited longest.
func (l *loop) ripe(now time.Time) []end {
	a := &l.aside
	if len(a.ends) == 0 || now.Before(a.next) {
		return nil
	}
	ripe := a.take(func(e *end) bool { return !l.due(e).After(now) })
	for i := range a.ends {
		if due := l.due(&a.ends[i]); i == 0 || due.Before(a.next) {
			a.next = due
		}
	}
	slices.SortStableFunc(ripe, func(a, b end) int { return a.backoff.After.Compare(b.backoff.After) })
	return ripe
}

// clogged tells that so many ends could not be written that we must not make more of them.
func (l *loop) clogged() bool {
	return l.aside.size > asideMost || len(l.unsaid) > 4*l.live.Load().Run || l.ledger.Len() > 4*l.live.Load().Run+ledger.Most
}
