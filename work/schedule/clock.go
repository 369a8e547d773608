package schedule

import "math/bits"

// clock is the set of an expression's times of a day, a bit for each value.
type clock struct{ second, minute, hour uint64 }

// size is how many times there are in a day.
func (c clock) size() int64 {
	return int64(bits.OnesCount64(c.hour) * bits.OnesCount64(c.minute) * bits.OnesCount64(c.second))
}

// before tells how many times are before a second of the day.
func (c clock) before(second int64) int64 {
	h, m, s := second/3600, second/60%60, second%60
	minutes, seconds := bits.OnesCount64(c.minute), bits.OnesCount64(c.second)
	n := below(c.hour, h) * minutes * seconds
	if c.hour>>h&1 == 1 {
		n += below(c.minute, m) * seconds
		if c.minute>>m&1 == 1 {
			n += below(c.second, s)
		}
	}
	return int64(n)
}

// nth is the second of the day of a time, counted from 0.
func (c clock) nth(n int64) int64 {
	minutes, seconds := int64(bits.OnesCount64(c.minute)), int64(bits.OnesCount64(c.second))
	return 3600*member(c.hour, n/seconds/minutes) + 60*member(c.minute, n/seconds%minutes) + member(c.second, n%seconds)
}

// below counts the members of a set that are less than a value.
func below(set uint64, value int64) int { return bits.OnesCount64(set & (1<<value - 1)) }

// member is the n-th member of a set, counted from 0.
func member(set uint64, n int64) int64 {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return int64(bits.TrailingZeros64(set))
}
