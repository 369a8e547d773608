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
	d, passed := floorDiv(from, day), w.clock.before(floorMod(from, day))
	for ; d*day < before; d, passed = d+1, 0 {
		if passed < w.clock.size() && w.days.has(d) {
			wall := d*day + w.clock.nth(passed)
			return wall, wall < before
		}
	}
	return 0, false
}

// count is the number of moments from one wall on, and before another.
func (w walls) count(from, before int64) int64 {
	if from >= before {
		return 0
	}
	n, end := int64(0), floorDiv(before, day)
	for d := floorDiv(from, day); d < end; d++ {
		if w.days.has(d) {
			n += w.clock.size()
		}
	}
	if w.days.has(end) {
		n += w.clock.before(floorMod(before, day))
	}
	if d := floorDiv(from, day); w.days.has(d) {
		n -= w.clock.before(floorMod(from, day))
	}
	return n
}

// nth is the n-th moment from one wall on, and before another, counted from 1. If there are fewer,
// rest is by how many.
func (w walls) nth(from, before, n int64) (wall, rest int64, found bool) {
	d := floorDiv(from, day)
	if from < before && w.days.has(d) {
		n += w.clock.before(floorMod(from, day))
	}
	for ; d*day < before; d++ {
		if !w.days.has(d) {
			continue
		}
		size := w.clock.size()
		if before-d*day < day {
			size = w.clock.before(before - d*day)
		}
		if n <= size {
			return d*day + w.clock.nth(n-1), 0, true
		}
		n -= size
	}
	return 0, n, false
}
