package main

import "time"

// repairs end the faults that last for a while.
type repairs []repair

type repair struct {
	at   time.Time
	mend func()
}

// later adds a repair for a later time.
func (all *repairs) later(after time.Duration, mend func()) {
	*all = append(*all, repair{time.Now().Add(after), mend})
}

// mend makes the repairs that are due by a time.
func (all *repairs) mend(until time.Time) {
	kept := (*all)[:0]
	for _, r := range *all {
		if r.at.After(until) {
			kept = append(kept, r)
		} else {
			r.mend()
		}
	}
	*all = kept
}
