package lane

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// Limit is a row of the table of groups. It applies to each group that it names separately.
type Limit struct {
	Group  string // as KeyOf takes it; with Prefix: the beginning of names, at most 99 bytes
	Prefix bool
	Paused bool          // no task of the group starts
	Until  time.Time     // end of the pause, by the server's clock, maybe past; zero: no end is set
	Slots  int           // most tasks at once, over all remotes; below 0: no limit
	Rate   int           // most tasks that start in any stretch of Per; 0: no limit
	Per    time.Duration // above 0 if Rate is
}

// pausedAt tells whether the limit pauses its groups at that time.
func (l *Limit) pausedAt(now time.Time) bool {
	return l.Paused && (l.Until.IsZero() || now.Before(l.Until))
}

// rule is a limit in force.
type rule struct {
	Limit
	unknown time.Time // unknown tasks may have started under it up to then; zero: none
}

type ruleKey struct {
	text   string
	prefix bool
}

// endedFor is how long Limits remembers the end of a pause.
const endedFor = 30 * 24 * time.Hour

// Limits are the limits of all groups of a target, found by the group's name. Only Lanes.Limit and
// Lanes.Doubt change it, and only the goroutine that calls these may call its methods.
type Limits struct {
	now     func() time.Time // the server's clock
	all     map[ruleKey]*rule
	lengths []int                 // of all prefixes so far
	ended   map[ruleKey]time.Time // when the pause of a rule ended, also if the rule is gone
	unsure  time.Time             // rule.unknown for new rules of the next change
	pauses  bool                  // a rule has Paused set, whatever its Until
	rated   atomic.Bool           // a rule has a rate
}

// Holds tells whether a group is paused. It is cheap while no group is paused, as a scan may ask a
// million times.
func (r *Limits) Holds(group []byte) bool {
	if !r.pauses {
		return false
	}
	paused, _ := r.Paused(string(group))
	return paused
}

// Paused tells whether a group is paused, and when its last pause ended, as of the last call of
// Lanes.Limit; zero: no end is known.
func (r *Limits) Paused(group string) (paused bool, ended time.Time) {
	now := r.now()
	for _, n := range r.names(Brief(group)) {
		one := r.all[n]
		paused = paused || one != nil && one.pausedAt(now)
		ended = later(ended, r.ended[n])
	}
	return paused, ended
}

// LastPause returns when the last pause of any group ended; zero: no end is known.
func (r *Limits) LastPause() (ended time.Time) {
	for _, at := range r.ended {
		ended = later(ended, at)
	}
	return ended
}

// names returns the keys of all rules that may apply to a group. key is its Key.group.
func (r *Limits) names(key string) []ruleKey {
	names, head := []ruleKey{{key, false}}, Head(key)
	for _, n := range r.lengths {
		if n <= len(head) {
			names = append(names, ruleKey{head[:n], true})
		}
	}
	return names
}

func (r *Limits) of(key string) (found []*rule) {
	if len(r.all) == 0 {
		return nil
	}
	for _, n := range r.names(key) {
		if one := r.all[n]; one != nil {
			found = append(found, one)
		}
	}
	return found
}

func (r *Limits) change(limits []Limit) (resumed bool, next time.Time) {
	now := r.now()
	all, rated := make(map[ruleKey]*rule, len(limits)), false
	r.pauses = false
	for _, limit := range limits {
		n := ruleKey{limit.Group, limit.Prefix}
		if !n.prefix {
			n.text = Brief(n.text)
		} else if !slices.Contains(r.lengths, len(n.text)) {
			r.lengths = append(r.lengths, len(n.text))
		}
		all[n], rated = &rule{limit, r.unsure}, rated || limit.Rate > 0
		r.pauses = r.pauses || limit.Paused
		r.ends(n, limit.Until, now)
		if limit.pausedAt(now) && !limit.Until.IsZero() && (next.IsZero() || limit.Until.Before(next)) {
			next = limit.Until
		}
	}
	slices.Sort(r.lengths)
	for n, one := range r.all {
		after := all[n]
		r.ends(n, one.Until, now)
		if one.pausedAt(now) && (after == nil || !after.pausedAt(now)) {
			r.ends(n, now, now)
			resumed = true
		}
		if after != nil { // keep the rule: windows and unknown belong to it
			one.Limit, all[n] = after.Limit, one
		}
	}
	maps.DeleteFunc(r.ended, func(_ ruleKey, at time.Time) bool { return now.Sub(at) > endedFor })
	r.all, r.unsure = all, time.Time{}
	r.rated.Store(rated)
	return resumed, next
}

// ends records the end of a pause, if it is not after now.
func (r *Limits) ends(n ruleKey, at, now time.Time) {
	if !at.IsZero() && !at.After(now) {
		r.ended[n] = later(r.ended[n], at)
	}
}

func (r *Limits) doubt(now time.Time) {
	r.unsure = now
	for _, one := range r.all {
		one.unknown = now
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
