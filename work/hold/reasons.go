package hold

import (
	"math"
	"time"
)

// Never is how long nothing is to be done, where nothing is known of.
const Never = time.Duration(math.MaxInt64)

// Reason is why something waits.
type Reason int

// Reasons for which a task is not tried before.
const (
	Missing  Reason = iota // its row was not there to be read: it has changed, or somebody has locked it
	Refuses                // its row has refused a change: what refuses it may be mended by then
	Stuck                  // its row takes no end at all, and says that it runs: for as long as we lead
	Unmarked               // its row takes no mark now
	Zoneless               // its cron expression needs a time zone that we do not know

	Locked    // an end or a mark: somebody has locked its row, or a trigger left it out
	Exhausted // an end: the table lacks an id or a partition for what follows, which takes a person
	QueueFull // a task: the server's queue of notifications has no room
	Crossed   // a task: another transaction was in the way
	Closed    // tasks whose remote, or role, takes no connection
)

// backoffs are the first wait for each reason, and the longest, up to which it doubles.
var backoffs = [...]struct{ first, most time.Duration }{
	Missing:   {20 * time.Millisecond, time.Second},
	Refuses:   {time.Minute, time.Minute},
	Stuck:     {Never, Never},
	Unmarked:  {time.Second, 10 * time.Second},
	Zoneless:  {5 * time.Second, 5 * time.Second},
	Locked:    {50 * time.Millisecond, time.Second},
	Exhausted: {500 * time.Millisecond, 30 * time.Second},
	QueueFull: {time.Second, time.Minute},
	Crossed:   {5 * time.Millisecond, 640 * time.Millisecond},
	Closed:    {time.Second, time.Minute},
}

// After is how long to wait after so many tries before.
func (r Reason) After(tries int) (wait time.Duration) {
	for range min(tries, 16) + 1 {
		wait = r.next(wait)
	}
	return wait
}

// next is how long to wait after a wait; 0: there was none.
func (r Reason) next(wait time.Duration) time.Duration {
	return min(max(2*wait, backoffs[r].first), backoffs[r].most)
}

// Backoff is when something is tried again that a row has not taken. The zero one has not failed.
type Backoff struct {
	Wait  time.Duration // before the next try; 0: there has been none that failed
	Since time.Time     // the first one that failed,
	After time.Time     // and the next one
}

// Later puts it off, for longer each time.
func (b *Backoff) Later(why Reason) {
	if b.Since.IsZero() {
		b.Since = time.Now()
	}
	b.Wait = why.next(b.Wait)
	b.After = time.Now().Add(b.Wait)
}
