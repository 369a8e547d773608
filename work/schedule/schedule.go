package schedule

import (
	"math"
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
	// next is the first beat after a time.
	next(after time.Time) (time.Time, bool)
	// count tells how many beats lie after one time and not after another.
	count(after, last time.Time) int64
	// nth is the n-th beat after a time, counted from 1.
	nth(after time.Time, n int64) time.Time
}

// Zone is the time zone: the expression's own, else the one given to Parse.
func (s *Schedule) Zone() *time.Location { return s.zone.Location }

// Next is the first beat after a time, and false if there is none.
func (s *Schedule) Next(after time.Time) (time.Time, bool) {
	beat, ok := s.beats.next(after)
	return beat.In(s.zone.Location), ok
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
	missed := int64(0)
	if last.After(after) {
		missed = s.beats.count(after, last)
	}
	if keep > 0 && missed > 0 {
		passed := max(0, missed-int64(keep))
		return s.beats.nth(after, passed+1).In(s.zone.Location), saturate(passed), true
	}
	if last.Before(now) {
		return time.Time{}, saturate(missed), false
	}
	first = s.beats.nth(after, missed+1).In(s.zone.Location)
	if !until.IsZero() && first.After(until) {
		return time.Time{}, saturate(missed), false
	}
	return first, saturate(missed), true
}

// saturate keeps a number within what the column skipped can hold.
func saturate(n int64) int { return int(min(n, math.MaxInt32)) }
