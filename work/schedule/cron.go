package schedule

import "time"

// cron are the beats of an expression with fields.
type cron struct {
	walls walls
	zone  zone
	// follow: the hours begin with *, so the beats go by the clock on the wall. Else what the clock
	// skips comes once, at the change, and what it shows twice comes the first time.
	follow bool
}

// horizon is how far Next looks: after 400 years each date falls on the same day of the week.
const horizon = 401 * 366 * day

// A stretch is the part of a span that has beats: perhaps one at its start, for what the clock has
// skipped, and those of the walls from one on and before another.
type stretch struct {
	span
	skipped      bool
	from, before int64
}

func (c cron) stretch(t int64) stretch {
	s := stretch{span: c.zone.at(t)}
	s.from, s.before = s.start+s.offset, s.end+s.offset
	if c.follow || s.start == -ever {
		return s
	}
	// The wall up to which the clock has come: no zone changes it twice within two days.
	reached := s.start + c.zone.at(s.start-1).offset
	if _, found := c.walls.first(reached, s.from); found {
		_, same := c.walls.first(s.from, s.from+1)
		s.skipped = !same
	}
	s.from = max(s.from, reached)
	return s
}

// since leaves out what is before a time.
func (s stretch) since(t int64) stretch {
	s.skipped = s.skipped && s.start >= t
	s.from = max(s.from, t+s.offset)
	return s
}

// through leaves out what is after a time.
func (s stretch) through(t int64) stretch {
	s.skipped = s.skipped && s.start <= t
	s.before = min(s.before, t+1+s.offset)
	return s
}

func (c cron) next(after time.Time) (time.Time, bool) {
	from := after.Unix() + 1
	for t := from; t < from+horizon; {
		s := c.stretch(t).since(t)
		if s.skipped {
			return time.Unix(s.start, 0), true
		}
		if wall, found := c.walls.first(s.from, min(s.before, from+horizon)); found {
			return time.Unix(wall-s.offset, 0), true
		}
		t = s.end
	}
	return time.Time{}, false
}

func (c cron) count(after, last time.Time) int64 {
	return c.counted(after.Unix()+1, last.Unix())
}

// counted is the number of beats from one time on, and not after another.
func (c cron) counted(t, end int64) int64 {
	n := int64(0)
	for t <= end {
		s := c.stretch(t).since(t).through(end)
		if s.skipped {
			n++
		}
		n += c.walls.count(s.from, s.before)
		t = s.end
	}
	return n
}

// nth looks in longer and longer spans for the one that has the beat, and then in its halves.
func (c cron) nth(after time.Time, n int64) time.Time {
	t, width := after.Unix()+1, int64(1<<17)
	passes := func() bool {
		passed := c.counted(t, t+width-1)
		if passed >= n {
			return false
		}
		n, t = n-passed, t+width
		return true
	}
	for passes() {
		width *= 2
	}
	for width > 1 {
		width /= 2
		passes()
	}
	return time.Unix(t, 0)
}
