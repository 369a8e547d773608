package work

import "time"

// putOff is when something is tried again that a row has not taken, as somebody has it locked, or a
// trigger left it out.
type putOff struct {
	wait  time.Duration // before the next try; 0: there has been none that failed
	after time.Time     // of that try, by our clock
}

func (p *putOff) later() {
	p.wait = min(max(2*p.wait, 50*time.Millisecond), time.Second)
	p.after = time.Now().Add(p.wait)
}
