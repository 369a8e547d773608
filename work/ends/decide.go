package ends

import (
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
)

// verdict is what becomes of an end that was not written.
type verdict int

const (
	wait   verdict = iota // it is tried again, later
	again                 // at once, with less in it
	giveUp                // the row takes no end at all
	forget                // the row is not ours any more
)

// raisedMost is how long an end waits for an error that SQL has raised and that only looks as if it passed.
const raisedMost = time.Second

// refused decides what becomes of an end that the table has refused by that error.
func (e *End) refused(err error) verdict {
	switch class := fault.Of(err); {
	case class.Lacks():
		e.backoff.Later(hold.Exhausted)
		return wait
	case class == fault.Locked,
		class == fault.Slow && e.backoff.Wait == 0, // the server itself may be, this once
		class.Passing() && (class.OfLocks() || !fault.Below(err) || e.backoff.Wait < raisedMost):
		e.backoff.Later(hold.Locked)
		return wait
	case class == fault.Unsendable && !e.ascii: // something else is written for a character that the database lacks
		e.ascii = true
		return again
	case e.lessen():
		return again
	}
	return giveUp
}

// passedOver decides what becomes of an end that a statement has not written, without an error. free:
// we had locked the row, so nobody was in the way.
func (e *End) passedOver(s inflight.Standing, free bool) verdict {
	switch {
	case s.Ours && free: // a trigger leaves it out
		if !e.lessen() {
			return giveUp
		}
		return wait
	case s.Ours:
		e.backoff.Later(hold.Locked)
		return wait
	case s.Stopping && e.Kind != run.Stopped:
		e.Kind = run.Stopped
		return wait
	}
	return forget
}
