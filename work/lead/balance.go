package lead

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
)

// Leadership evens out among controllers. Each session of a controller, whether it leads or stands
// by, shows by a lock whose it is, so that one look at the server's locks counts what everybody
// leads. A controller that leads more than another that stands by gives up one target at a time.
const (
	firstLook = 5 * time.Second  // after a controller begins to lead
	evenLook  = 30 * time.Second // between two looks of a controller while all is even
	unevenly  = time.Second      // and while it is not: the others need half of that to take a lead
	farFewer  = 2                // tables
)

// balance is what a controller leads, and when it looks next. Any goroutine may use it.
type balance struct {
	mu   sync.Mutex
	next time.Time
	led  int
}

var balances sync.Map // by controller

func (l *Lead) balance() *balance {
	b, _ := balances.LoadOrStore(l.name(), &balance{})
	return b.(*balance)
}

// number is the controller's in the locks by which it shows itself.
func (l *Lead) number() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(l.name()))
	return max(h.Sum32()>>8, 1)
}

// Leads counts a term that begins, or ends.
func (l *Lead) Leads(begins bool) {
	b := l.balance()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !begins {
		b.led--
		return
	}
	if b.led++; b.led == 1 {
		b.next = time.Now().Add(firstLook)
	}
}

// Handicap is how much longer the controller waits between two tries than one that leads nothing.
func (l *Lead) Handicap() time.Duration {
	const each, most = 10 * time.Millisecond, 250 * time.Millisecond
	b := l.balance()
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(time.Duration(b.led)*each, most)
}

// NextLook returns the time until the controller looks whether others lead far fewer.
func (l *Lead) NextLook() time.Duration {
	b := l.balance()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.led < farFewer {
		return evenLook
	}
	return time.Until(b.next)
}

// LeadsFarMore tells whether another controller that stands by for the table leads far fewer.
func (l *Lead) LeadsFarMore(ctx context.Context) (more bool, err error) {
	b := l.balance()
	if !b.turn() {
		return false, nil
	}
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	ours, fewest, err := lock.Leadership(l.Target.Relation(), false).Balance(ctx, l.Control.Conn(), l.number())
	if fault.IsAnswer(err) {
		return false, nil
	}
	if more = err == nil && fewest != nil && ours >= *fewest+farFewer; more {
		b.after(unevenly)
	}
	return more, err
}

// turn tells whether it is time to look. Whoever asked first looks.
func (b *balance) turn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.next) || b.led < farFewer {
		return false
	}
	b.next = time.Now().Add(evenLook)
	return true
}

func (b *balance) after(rest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = time.Now().Add(rest)
}
