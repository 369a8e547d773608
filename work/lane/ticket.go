package lane

import "time"

// Ticket is what lanes know of one task. A task embeds it. The exported fields are set before the
// task is handed to Prefetched, and do not change after that.
type Ticket struct {
	Lane    Key
	Rank    Rank
	Plan    time.Time // by the server's clock
	Expires time.Time // from then on it must not start, by the server's clock; zero: it always may
	Read    time.Time // by our clock: its row had been read by then
	Drift   bool      // a pause is counted from the end of the run before, not from its plan
	Suspect bool      // the server has crashed while it ran: nothing else starts while it is young

	passed bool  // the slot of the lane belongs to the next task of the session
	left   bool  // the place in run belongs to the next task of the session
	tries  bool  // it tries the gate of its remote, and has no place in run
	era    int32 // in which it was queued behind another
}

// ticket makes whatever embeds a Ticket a Holder.
func (t *Ticket) ticket() *Ticket { return t }

// Holder is what lanes hand out: a pointer to a type that embeds Ticket.
type Holder interface{ ticket() *Ticket }

// Rank is a waiting task's place in its lane: larger max first, then higher priority, then lower
// id.
type Rank struct {
	ID       int64
	Max      int32 // below 0: one at a time, with a pause of so many milliseconds
	Priority int32
}

func (a Rank) before(b Rank) bool {
	if a.Max != b.Max {
		return a.Max > b.Max
	}
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}
