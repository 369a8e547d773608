package work

import (
	"time"

	"pgtaskd/work/lane"
	"pgtaskd/work/run"
)

// pace measures how fast tasks end, which is how far ahead they are read: what ends between four
// looks, so that runners find tasks while the loop has hundreds of ends to write, and must share the
// cores with them.
type pace struct {
	lanes *lane.Lanes[*run.Task]
	at    time.Time // of the last look,
	ended int       // tasks that have ended since
}

const (
	paceTick  = 50 * time.Millisecond
	mostAhead = 3000 // tasks that are read before they can start
)

// look tells the lanes.
func (p *pace) look() {
	if time.Since(p.at) < paceTick {
		return
	}
	p.lanes.Pace(min(4*p.ended, mostAhead))
	p.at, p.ended = time.Now(), 0
}
