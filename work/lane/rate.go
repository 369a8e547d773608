package lane

import "time"

// window counts what starts in one group under a rule with a rate. What was handed out counts until
// it is known when it began, since it may begin any moment; what began counts for Per.
type window struct {
	rule    *rule
	pending int // handed out, and not known to have begun
	count   int // of starts
	starts  []burst
}

// burst is some starts close to each other. They count as long as the last of them.
type burst struct {
	first, last time.Time
	n           int
}

// burstShare is the part of Per that a burst may last. So a window remembers about so many bursts at
// most, whatever the rate, and counts a start for longer than it must by that part at most.
const burstShare = 256

// expired is how much longer than Per a start counts: so two are never exactly as far apart.
const expired = time.Millisecond

// add takes in a start. Starts become known in about their order; one that comes late counts as if
// it had begun with the last.
func (w *window) add(at time.Time) {
	w.count++
	if n := len(w.starts); n > 0 {
		last := &w.starts[n-1]
		at = later(at, last.last)
		if at.Sub(last.first) <= w.rule.Per/burstShare && w.count > burstShare {
			last.last = at
			last.n++
			return
		}
	}
	w.starts = append(w.starts, burst{at, at, 1})
}

// expire forgets the starts that count no more.
func (w *window) expire(now time.Time) {
	n := 0
	for n < len(w.starts) && now.After(w.ends(n)) {
		w.count -= w.starts[n].n
		n++
	}
	w.starts = w.starts[n:]
}

func (w *window) ends(i int) time.Time { return w.starts[i].last.Add(w.rule.Per + expired) }

// full tells whether nothing may start now, and when that may change by itself; zero: it will not.
func (w *window) full(now time.Time) (full bool, opens time.Time) {
	w.expire(now)
	if known := w.rule.unknown.Add(w.rule.Per + expired); now.Before(known) {
		full, opens = true, known
	}
	excess := w.pending + w.count - w.rule.Rate + 1 // so many must be forgotten
	if excess <= 0 {
		return full, opens
	}
	for i := range w.starts {
		if excess -= w.starts[i].n; excess <= 0 {
			return true, later(opens, w.ends(i).Add(time.Nanosecond))
		}
	}
	return true, time.Time{}
}
