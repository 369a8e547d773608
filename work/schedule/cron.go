package schedule

import "time"

// cron are the beats of an expression with fields.
type cron struct {
	days  days
	clock clock
	zone  zone
	// follow: the hours begin with *, so the beats go by the clock on the wall. Else what the clock
	// skips comes once, at the change, and what it shows twice comes the first time.
	follow bool
}

func (c cron) count(after, last time.Time) int64 {
	return c.counted(after.Unix()+1, last.Unix())
}

// counted is the number of beats from one time on, and not after another.
func (c cron) counted(t, end int64) (n int64) {
	for t <= end {
		s := c.zone.at(t)
		from, before := t+s.offset, min(s.end, end+1)+s.offset
		if !c.follow && s.start > -ever {
			opens := s.start + s.offset
			// The wall up to which the clock has come: no zone changes it twice within two days.
			reached := s.start + c.zone.at(s.start-1).offset
			if t <= s.start && c.walls(reached, opens) > 0 && c.walls(opens, opens+1) == 0 {
				n++ // for what the clock has skipped
			}
			from = max(from, reached)
		}
		n += c.walls(from, before)
		t = s.end
	}
	return n
}

// walls is how often the clock on the wall shows a beat, from one wall on and before another, in
// seconds since 1970.
func (c cron) walls(from, before int64) int64 {
	if from >= before {
		return 0
	}
	d, end := floorDiv(from, day), floorDiv(before, day)
	n := c.days.count(d, end) * c.clock.size()
	if c.days.has(end) {
		n += c.clock.before(floorMod(before, day))
	}
	if c.days.has(d) {
		n -= c.clock.before(floorMod(from, day))
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
