package hold

import "time"

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
