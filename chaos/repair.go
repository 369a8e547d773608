package main

import "time"

// repairs are the ends of faults that last for a while.
type repairs []repair

type repair struct {
	at   time.Time
	mend func()
}

// later keeps a repair for when some time has passed.
func (all *repairs) later(after time.Duration, mend func()) {
	*all = append(*all, repair{time.Now().Add(after), mend})
}

// mend does the repairs that are due until some time.
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
