package schedule

// walls are the moments of an expression on the clock on the wall, in seconds since 1970.
type walls struct {
	days  days
	clock clock
}

// first is the first moment from one wall on, and before another.
func (w walls) first(from, before int64) (int64, bool) {
	if from >= before {
		return 0, false
	}
	d := floorDiv(from, day)
	if passed := w.clock.before(floorMod(from, day)); passed < w.clock.size() && w.days.has(d) {
		wall := d*day + w.clock.nth(passed)
		return wall, wall < before
	}
	d, found := w.days.first(d+1, floorDiv(before-1, day)+1)
	wall := d*day + w.clock.nth(0)
	return wall, found && wall < before
}

// count is the number of moments from one wall on, and before another.
func (w walls) count(from, before int64) int64 {
	if from >= before {
		return 0
	}
	d, end := floorDiv(from, day), floorDiv(before, day)
	n := w.days.count(d, end) * w.clock.size()
	if w.days.has(end) {
		n += w.clock.before(floorMod(before, day))
	}
	if w.days.has(d) {
		n -= w.clock.before(floorMod(from, day))
	}
	return n
}
