package schedule

import (
	"math"
	"sort"
	"time"
)

// Schedule is a parsed expression in its time zone.
type Schedule struct {
	zone  zone
	beats beats
}

// beats are the moments of a schedule. Times are seconds since 1970; count and nth may be asked for
// any span, however long.
type beats interface {
	// count tells how many beats lie after one time and not after another.
	count(after, last time.Time) int64
	// nth is the n-th beat after a time, counted from 1.
	nth(after time.Time, n int64) time.Time
}

// Zone is the time zone: the expression's own, else the one given to Parse.
func (s *Schedule) Zone() *time.Location { return s.zone.Location }

// Next is the first beat after a time.
func (s *Schedule) Next(after time.Time) time.Time { return s.nth(after, 1) }

func (s *Schedule) nth(after time.Time, n int64) time.Time {
	return s.beats.nth(after, n).In(s.zone.Location)
}

// Missed tells what runs after the beat at after, when it is now. Of the beats up to now, and not
// after until, the newest keep run: first is the oldest of them. If keep is 0, or none was missed,
// it is the first beat after now; @every counts from after. skipped counts the beats between after
// and first. Without a first beat, or if that is after until, ok is false. A zero until is no
// limit.
func (s *Schedule) Missed(after, now, until time.Time, keep int) (first time.Time, skipped int, ok bool) {
	last := now
	if !until.IsZero() && until.Before(now) {
		last = until
	}
	missed := s.beats.count(after, last)
	if keep > 0 && missed > 0 {
		passed := max(0, missed-int64(keep))
		return s.nth(after, passed+1), saturate(passed), true
	}
	first = s.nth(after, missed+1)
	if !until.IsZero() && first.After(until) {
		return time.Time{}, saturate(missed), false
	}
	return first, saturate(missed), true
}

// saturate keeps a number within what the column skipped can hold.
func saturate(n int64) int { return int(min(n, math.MaxInt32)) }

// every are the beats of @every: after + k times the interval, as PostgreSQL adds them up.
type every struct {
	interval Interval
	zone     zone
}

func (e every) nth(after time.Time, n int64) time.Time {
	return e.zone.add(after, e.interval, n)
}

const most = 1 << 62

func (e every) count(after, last time.Time) int64 {
	top := int64(1)
	for ; top < most && !e.nth(after, top).After(last); top *= 2 {
	}
	return int64(sort.Search(int(top), func(n int) bool { return e.nth(after, int64(n)+1).After(last) }))
}
