package run

import (
	"sync"
	"time"
)

// others knows when SQL other than a given one has ended last. What begins behind that has to find
// what it has done, though it was taken before, since the tasks of a lane may come one after the
// other. Any goroutine may use it.
type others struct {
	mu         sync.Mutex
	input      string    // the SQL that has ended last
	last       time.Time // when it has, by our clock
	lastOthers time.Time // when any other has
}

// comparedLongest is the longest input that is compared, in bytes: a longer one counts as other
// than any.
const comparedLongest = 8 << 10

// lostFor is how long SQL may go on that we have lost sight of, in most cases.
const lostFor = time.Minute

// ended takes note of the end of a task's SQL, before anything can start for which it has made
// room.
func (o *others) ended(input *string, lost bool) {
	text := ""
	if input != nil && len(*input) <= comparedLongest {
		text = *input
	}
	at := time.Now()
	if lost {
		text, at = "", at.Add(lostFor)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if text != o.input || text == "" {
		o.lastOthers = later(o.lastOthers, o.last)
		o.input = text
	}
	o.last = later(o.last, at)
}

// than is when other SQL than this has ended last; zero: none has.
func (o *others) than(input string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if input != "" && input == o.input {
		return o.lastOthers
	}
	return later(o.last, o.lastOthers)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
