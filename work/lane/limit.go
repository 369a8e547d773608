package lane

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// Limit is a row of the table of groups. Each of the groups that it names has it by itself.
type Limit struct {
	Group  string // as KeyOf takes it; with Prefix, what its name begins with, at most 99 bytes
	Prefix bool
	Paused bool          // none of its tasks starts
	Until  time.Time     // the pause ends then, by the server's clock, or has ended; zero: no end is set
	Slots  int           // most of its tasks at once, over all remotes; below 0: as many as may
	Rate   int           // most of its tasks that start in any stretch of Per; 0: as many as may
	Per    time.Duration // above 0 where Rate is
}

// pausedAt tells whether the limit keeps its groups from starting anything then.
func (l *Limit) pausedAt(now time.Time) bool {
	return l.Paused && (l.Until.IsZero() || now.Before(l.Until))
}

// rule is a limit that holds.
type rule struct {
	Limit
	unknown time.Time // up to then tasks may have started under it that are not known here; zero: none
}

type ruleKey struct {
	text   string
	prefix bool
}

// endedFor is how long the end of a pause is remembered.
const endedFor = 30 * 24 * time.Hour

// Limits are the limits of all groups of a target, found by the group's name. Its methods are for
// the goroutine that calls Lanes.Limit and Lanes.Doubt, which alone change it.
type Limits struct {
	now     func() time.Time // the server's clock
	all     map[ruleKey]*rule
	lengths []int                 // those of the prefixes that there have been
	ended   map[ruleKey]time.Time // when the pause of a rule, or of one that there was, has ended
	unsure  time.Time             // rule.unknown of what the next change brings
	pauses  bool                  // there are pauses, of whatever time
	rated   atomic.Bool           // there are rates
}

// Holds tells whether a group is paused. It costs nothing while none is: a scan may ask a million times.
func (r *Limits) Holds(group []byte) bool {
	if !r.pauses {
		return false
	}
	paused, _ := r.Paused(string(group))
	return paused
}

// Paused tells whether a group is paused, and if not, when its last pause had ended by the last
// call of Lanes.Limit; zero: it had none, as far as is known.
func (r *Limits) Paused(group string) (paused bool, ended time.Time) {
	now := r.now()
	for _, n := range r.names(Brief(group)) {
		one := r.all[n]
		paused = paused || one != nil && one.pausedAt(now)
		ended = later(ended, r.ended[n])
	}
	return paused, ended
}

// LastPause is when the last pause of any group has ended; zero: none has, as far as is known.
func (r *Limits) LastPause() (ended time.Time) {
	for _, at := range r.ended {
		ended = later(ended, at)
	}
	return ended
}

// names are the keys of all rules that a group may have. key is the group's in Key.
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
		if after != nil { // what is known of starts under it holds
			one.Limit, all[n] = after.Limit, one
		}
	}
	maps.DeleteFunc(r.ended, func(_ ruleKey, at time.Time) bool { return now.Sub(at) > endedFor })
	r.all, r.unsure = all, time.Time{}
	r.rated.Store(rated)
	return resumed, next
}

// ends takes note that a pause has ended, if it has by then.
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
