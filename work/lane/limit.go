package lane

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// Limit is what a row of the table of groups says of the groups that it names: each of them has it
// by itself.
type Limit struct {
	Group  string // what tells the group from others, as KeyOf takes it; with Prefix, what its name begins with, at most 99 bytes
	Prefix bool
	Paused bool          // none of its tasks starts
	Until  time.Time     // the pause ends then, by the server's clock, or has ended; zero: no end is set
	Slots  int           // most of its tasks at once, over all remotes; below 0: as many as may
	Rate   int           // most of its tasks that start in any stretch of Per; 0: as many as may
	Per    time.Duration // above 0 where Rate is
}

// pausedAt tells whether the limit keeps its groups from starting anything then.
func (l Limit) pausedAt(now time.Time) bool {
	return l.Paused && (l.Until.IsZero() || now.Before(l.Until))
}

// rule is a limit that holds.
type rule struct {
	Limit
	unknown time.Time // up to then tasks may have started under it of which nothing is known here; zero: none
}

// name is what a rule is found by.
type name struct {
	text   string
	prefix bool
}

// endedFor is how long the end of a pause is remembered.
const endedFor = 30 * 24 * time.Hour

// rules are all limits of a target, so that those of a group are found without a look at each.
type rules struct {
	all     map[name]*rule
	lengths []int              // those of the prefixes that there have been
	ended   map[name]time.Time // when the pause of a rule, or of one that there was, has ended
	unsure  time.Time          // what the next change brings has held before: see rule.unknown
}

// names are those by which a rule may be found for a group, by the key of its lanes.
func (r *rules) names(key string) iter.Seq[name] {
	return func(yield func(name) bool) {
		if !yield(name{key, false}) {
			return
		}
		head := Head(key)
		for _, n := range r.lengths {
			if n > len(head) || !yield(name{head[:n], true}) {
				return
			}
		}
	}
}

// of are the rules for a group, by the key of its lanes.
func (r *rules) of(key string) (found []*rule) {
	for n := range r.names(key) {
		if one := r.all[n]; one != nil {
			found = append(found, one)
		}
	}
	return found
}

// change makes these the limits that hold. It tells whether a pause has ended by that.
func (r *rules) change(limits []Limit, now time.Time) (resumed bool) {
	all := make(map[name]*rule, len(limits))
	for _, limit := range limits {
		n := name{limit.Group, limit.Prefix}
		if !n.prefix {
			n.text = Brief(n.text)
		} else if !slices.Contains(r.lengths, len(n.text)) {
			r.lengths = append(r.lengths, len(n.text))
		}
		all[n] = &rule{limit, r.unsure}
		r.ends(n, limit.Until, now)
	}
	slices.Sort(r.lengths)
	for n, one := range r.all {
		next := all[n]
		r.ends(n, one.Until, now)
		if one.pausedAt(now) && (next == nil || !next.pausedAt(now)) {
			r.ends(n, now, now)
			resumed = true
		}
		if next != nil { // what is known of starts under it holds
			one.Limit, all[n] = next.Limit, one
		}
	}
	maps.DeleteFunc(r.ended, func(_ name, at time.Time) bool { return now.Sub(at) > endedFor })
	r.all, r.unsure = all, time.Time{}
	return resumed
}

// ends takes note that a pause has ended, if it has by then.
func (r *rules) ends(n name, at, now time.Time) {
	if !at.IsZero() && !at.After(now) {
		r.ended[n] = later(r.ended[n], at)
	}
}

// doubt says that tasks may have started, up to then, of which nothing is known here.
func (r *rules) doubt(now time.Time) {
	r.unsure = now
	for _, one := range r.all {
		one.unknown = now
	}
}

// Limit makes these the limits that hold from now on, for what waits as for what comes. What runs
// goes on. It tells whether a pause has ended by that, and when the next one ends by itself; zero:
// none will.
func (s *Lanes[T]) Limit(limits []Limit) (resumed bool, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(limits) == 0 && len(s.rules.all) == 0 {
		s.rules.unsure = time.Time{}
		return false, next
	}
	now := s.now()
	resumed = s.rules.change(limits, now)
	s.regroup()
	for _, one := range limits {
		if one.pausedAt(now) && !one.Until.IsZero() && (next.IsZero() || one.Until.Before(next)) {
			next = one.Until
		}
	}
	return resumed, next
}

// Holds tells whether a group is paused, by what tells it from others. It is made for many calls.
func (s *Lanes[T]) Holds(group []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rules.all) == 0 || s.last != nil && s.last.group == nil && s.last.key.group == string(group) {
		return false
	}
	now := s.now()
	return slices.ContainsFunc(s.rules.of(Brief(string(group))), func(one *rule) bool { return one.pausedAt(now) })
}

// LastPause is when the last pause of any group has ended; zero: none has, as far as is known.
func (s *Lanes[T]) LastPause() (ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.rules.ended {
		ended = later(ended, at)
	}
	return ended
}

// Paused tells whether a group is paused, and if not, when its last pause had ended by the last
// call of Limit; zero: it had none, as far as is known.
func (s *Lanes[T]) Paused(group string) (paused bool, ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for n := range s.rules.names(Brief(group)) {
		one := s.rules.all[n]
		paused = paused || one != nil && one.pausedAt(now)
		ended = later(ended, s.rules.ended[n])
	}
	return paused, ended
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// window counts what starts under a rule with a rate, of one group, in the time that lies so far
// back as the rule's Per. What was handed out counts until it is known when it began, since it may
// begin any moment; what began counts until Per has passed since.
type window struct {
	rule    *rule
	pending int // handed out, and not known to have begun
	count   int // of starts
	starts  []burst
}

// burst is some starts close to each other. They count as long as the last of them.
type burst struct {
	first, last time.Time
	n           int
}

// burstShare is the part of Per that a burst may last: so a window remembers no more than so many
// bursts, whatever the rate, and counts each start for longer than it must by that part at most.
const burstShare = 256

// expired is how much longer than Per a start counts: so two are never exactly as far apart.
const expired = time.Millisecond

// add takes in a start. Starts become known in about their order; one that comes late counts as if
// it had begun with the last.
func (w *window) add(at time.Time) {
	w.count++
	if n := len(w.starts); n > 0 {
		last := &w.starts[n-1]
		at = later(at, last.last)
		if at.Sub(last.first) <= w.rule.Per/burstShare && w.count > burstShare {
			last.last = at
			last.n++
			return
		}
	}
	w.starts = append(w.starts, burst{at, at, 1})
}

// expire forgets the starts that count no more.
func (w *window) expire(now time.Time) {
	n := 0
	for n < len(w.starts) && now.After(w.ends(n)) {
		w.count -= w.starts[n].n
		n++
	}
	w.starts = w.starts[n:]
}

// ends is until when a burst counts.
func (w *window) ends(i int) time.Time { return w.starts[i].last.Add(w.rule.Per + expired) }

// full tells whether nothing may start now, and when that may change by itself; zero: it will not.
func (w *window) full(now time.Time) (full bool, opens time.Time) {
	w.expire(now)
	if !w.rule.unknown.IsZero() {
		if opens = w.rule.unknown.Add(w.rule.Per + expired); now.Before(opens) {
			full = true
		} else {
			w.rule.unknown, opens = time.Time{}, time.Time{}
		}
	}
	excess := w.pending + w.count - w.rule.Rate + 1 // so many must be forgotten
	if excess <= 0 {
		return full, opens
	}
	for i := range w.starts {
		if excess -= w.starts[i].n; excess <= 0 {
			return true, later(opens, w.ends(i).Add(time.Nanosecond))
		}
	}
	return true, time.Time{}
}
