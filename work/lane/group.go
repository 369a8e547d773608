package lane

import (
	"maps"
	"time"
)

// groups are those for which there are limits. M is what belongs to a group: a lane.
type groups[M comparable] struct {
	limits *Limits
	all    map[string]*group[M] // by the key of their lanes
}

// group is all lanes of one group, over all remotes.
type group[M comparable] struct {
	members map[M]struct{}
	rules   []*rule
	windows map[*rule]*window // of those with a rate
	slots   int               // most tasks at once; below 0: as many as may
	running int               // slots in use, in all its lanes
}

// of is the group of a key; nil: there are no limits for it.
func (s *groups[M]) of(key string) *group[M] {
	if found := s.limits.of(key); s.all[key] == nil && len(found) > 0 {
		s.all[key] = &group[M]{members: map[M]struct{}{}}
		s.all[key].hold(found)
	}
	return s.all[key]
}

// change gives each group the rules that hold by now.
func (s *groups[M]) change() {
	maps.DeleteFunc(s.all, func(key string, g *group[M]) bool {
		g.hold(s.limits.of(key))
		return len(g.rules) == 0
	})
}

// tidy forgets the groups that have no lane, once no start counts any more under a rate.
func (s *groups[M]) tidy(now time.Time) {
	maps.DeleteFunc(s.all, func(_ string, g *group[M]) bool {
		for _, w := range g.windows {
			if w.expire(now); w.count+w.pending > 0 {
				return false
			}
		}
		return len(g.members) == 0
	})
}

// hold makes these the rules of the group. It keeps what it knows of starts under those that stay.
func (g *group[M]) hold(all []*rule) {
	g.rules, g.slots = all, -1
	windows := make(map[*rule]*window, len(g.windows))
	for _, one := range all {
		if one.Slots >= 0 && (g.slots < 0 || one.Slots < g.slots) {
			g.slots = one.Slots
		}
		if one.Rate == 0 {
			continue
		}
		if windows[one] = g.windows[one]; windows[one] == nil {
			windows[one] = &window{rule: one}
		}
	}
	g.windows = windows
}

// held tells whether none of the group may start: until then, or, if it is zero, until something
// else changes that.
func (g *group[M]) held(now time.Time) (held bool, until time.Time) {
	for _, one := range g.rules {
		switch {
		case !one.pausedAt(now):
		case one.Until.IsZero():
			return true, time.Time{}
		default:
			held, until = true, later(until, one.Until)
		}
	}
	for _, w := range g.windows {
		full, opens := w.full(now)
		if full && opens.IsZero() {
			return true, time.Time{}
		} else if full {
			held, until = true, later(until, opens)
		}
	}
	return held, until
}

// credit is how many may start now, as far as rates are concerned; below 0: there are none.
func (g *group[M]) credit() int {
	credit := -1
	for _, w := range g.windows {
		if room := max(w.rule.Rate-w.pending-w.count, 0); credit < 0 || room < credit {
			credit = room
		}
	}
	return credit
}

// counts counts a task that may begin any moment; false: there are no rates.
func (g *group[M]) counts() bool {
	for _, w := range g.windows {
		w.pending++
	}
	return len(g.windows) > 0
}

// began takes back that a task was counted, and counts its start (zero: none); false: no change.
func (g *group[M]) began(counted bool, at time.Time) bool {
	if !counted && at.IsZero() {
		return false
	}
	for _, w := range g.windows {
		if counted {
			w.pending = max(w.pending-1, 0) // 0: the rule is newer than the task
		}
		if !at.IsZero() {
			w.add(at)
		}
	}
	return len(g.windows) > 0
}

// window counts what starts in one group under a rule with a rate. What was handed out counts until
// it is known when it began, since it may begin any moment; what began counts for Per.
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

// burstShare is the part of Per that a burst may last. So a window remembers about so many bursts at
// most, whatever the rate, and counts a start for longer than it must by that part at most.
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

func (w *window) ends(i int) time.Time { return w.starts[i].last.Add(w.rule.Per + expired) }

// full tells whether nothing may start now, and when that may change by itself; zero: it will not.
func (w *window) full(now time.Time) (full bool, opens time.Time) {
	w.expire(now)
	if known := w.rule.unknown.Add(w.rule.Per + expired); now.Before(known) {
		full, opens = true, known
	} else { // a longer Per, set later, does not hold for it
		w.rule.unknown = time.Time{}
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

// gates are those before the remotes of a target. M is what stands before a gate: a lane.
type gates[M comparable] struct {
	all    map[string]*gate[M] // by remote
	trying int                 // gates that are tried
}

// gate is shut until a session has been opened to its remote, and again when a server has given no
// answer: then one task tries, outside of run, and the others wait, so that a server that does not
// answer keeps no task of another from its turn.
type gate[M comparable] struct {
	members map[M]struct{} // all that stand before it
	until   time.Time      // when to try again, by the server's clock
	by      M              // whose task is chosen, read or under way to try it; zero: none. See gates.set
	shut    bool
}

// of is the gate of a remote; nil: there is none before the target's own database.
func (s *gates[M]) of(remote string) *gate[M] {
	if remote == "" {
		return nil
	}
	g := s.all[remote]
	if g == nil {
		g = &gate[M]{members: map[M]struct{}{}, shut: true}
		s.all[remote] = g
	}
	return g
}

// tidy forgets the gates before which nothing stands, once they may be tried again.
func (s *gates[M]) tidy(now time.Time) {
	maps.DeleteFunc(s.all, func(_ string, g *gate[M]) bool { return len(g.members) == 0 && !now.Before(g.until) })
}

// A gate that is not tried because others are is looked at again after crowdTick, and crowdShare
// more for each gate: there may be a million.
const (
	crowdTick  = 100 * time.Millisecond
	crowdShare = 10 * time.Microsecond
)

// bars tells whether a member must wait for its gate: for that moment, or, if it is zero, until a
// try has ended. At most so many gates are tried at once: a table can name any number of remotes.
func (s *gates[M]) bars(g *gate[M], m M, most int, now func() time.Time) (barred bool, until time.Time) {
	switch {
	case g == nil || !g.shut || g.by == m:
		return false, time.Time{}
	case g.isTried():
		return true, time.Time{}
	case now().Before(g.until):
		return true, g.until
	case s.trying >= most:
		return true, now().Add(crowdTick + time.Duration(len(s.all))*crowdShare)
	}
	return false, time.Time{}
}

// set has a member try the gate; zero: none does any more. No try begins or ends elsewhere.
func (s *gates[M]) set(g *gate[M], m M) {
	if g.isTried() {
		s.trying--
	}
	if g.by = m; g.isTried() {
		s.trying++
	}
}

func (g *gate[M]) isTried() bool { return g.by != *new(M) }
