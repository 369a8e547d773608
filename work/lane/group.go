package lane

import (
	"maps"
	"time"
)

// groups are the groups that have limits. M is a member of a group: a lane.
type groups[M comparable] struct {
	limits *Limits
	all    map[string]*group[M] // by Key.group
}

// group is all lanes of one group, over all remotes.
type group[M comparable] struct {
	members map[M]struct{}
	rules   []*rule
	windows map[*rule]*window // for the rules with a rate
	slots   int               // most tasks at once; below 0: no limit
	running int               // slots in use, in all its lanes
}

// of returns the group of a key; nil: it has no limits.
func (s *groups[M]) of(key string) *group[M] {
	if found := s.limits.of(key); s.all[key] == nil && len(found) > 0 {
		s.all[key] = &group[M]{members: map[M]struct{}{}}
		s.all[key].hold(found)
	}
	return s.all[key]
}

// change gives each group its current rules, and drops groups without rules.
func (s *groups[M]) change() {
	maps.DeleteFunc(s.all, func(key string, g *group[M]) bool {
		g.hold(s.limits.of(key))
		return len(g.rules) == 0
	})
}

// tidy drops groups without lanes, once no start counts any more under a rate.
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

// hold replaces the rules of the group. It keeps the windows of rules that stay.
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

// held tells whether no task of the group may start, and until when; zero: until another event
// changes that.
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

// credit returns how many tasks the rates allow to start now; below 0: there are no rates.
func (g *group[M]) credit() int {
	credit := -1
	for _, w := range g.windows {
		if room := max(w.rule.Rate-w.pending-w.count, 0); credit < 0 || room < credit {
			credit = room
		}
	}
	return credit
}

// counts counts a task that may begin at any moment; false: there are no rates.
func (g *group[M]) counts() bool {
	for _, w := range g.windows {
		w.pending++
	}
	return len(g.windows) > 0
}

// began ends the counting of a task as pending, and counts its start (zero: it did not begin);
// false: nothing has changed.
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

// window counts the starts in one group under a rule with a rate. A task that was handed out counts
// until its start is known, as it may begin at any moment. A start counts for Per.
type window struct {
	rule    *rule
	pending int // tasks handed out whose start is not known
	count   int // starts that count
	starts  []burst
}

// burst is a number of starts close together. All count as long as the last one.
type burst struct {
	first, last time.Time
	n           int
}

// burstShare: a burst lasts at most Per/burstShare. So a window keeps about burstShare bursts at
// most, whatever the rate, and counts a start at most Per/burstShare too long.
const burstShare = 256

// expired is how much longer than Per a start counts: a start never comes exactly Per after
// another.
const expired = time.Millisecond

// add counts a start. Starts become known roughly in their order; a late one counts as if it had
// begun with the last one.
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

// expire drops the starts that do not count any more.
func (w *window) expire(now time.Time) {
	n := 0
	for n < len(w.starts) && now.After(w.ends(n)) {
		w.count -= w.starts[n].n
		n++
	}
	w.starts = w.starts[n:]
}

func (w *window) ends(i int) time.Time { return w.starts[i].last.Add(w.rule.Per + expired) }

// full tells whether nothing may start now, and when that ends by itself; zero: it does not.
func (w *window) full(now time.Time) (full bool, opens time.Time) {
	w.expire(now)
	if known := w.rule.unknown.Add(w.rule.Per + expired); now.Before(known) {
		full, opens = true, known
	} else { // a longer Per that is set later does not apply to it
		w.rule.unknown = time.Time{}
	}
	excess := w.pending + w.count - w.rule.Rate + 1 // how many must expire first
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

// gates are the gates of a target's remotes. M is a member of a gate: a lane of the remote.
type gates[M comparable] struct {
	all    map[string]*gate[M] // by remote
	trying int                 // how many gates are tried now
}

// gate is shut until a session has been opened to its remote, and again after its server has not
// answered. While it is shut, one task tries it, without a slot of run, and the others wait. So a
// server that does not answer delays no tasks of other remotes.
type gate[M comparable] struct {
	members map[M]struct{} // all lanes of the remote
	until   time.Time      // when to try again, by the server's clock
	by      M              // the lane whose task is chosen, read or running to try it; zero: none. See gates.set
	shut    bool
}

// of returns the gate of a remote; nil: the target's own database has none.
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

// tidy drops gates without members, once they may be tried again.
func (s *gates[M]) tidy(now time.Time) {
	maps.DeleteFunc(s.all, func(_ string, g *gate[M]) bool { return len(g.members) == 0 && !now.Before(g.until) })
}

// If too many other gates are tried, a gate waits for crowdTick, plus crowdShare for each gate that
// exists: there may be a million.
const (
	crowdTick  = 100 * time.Millisecond
	crowdShare = 10 * time.Microsecond
)

// bars tells whether a member must wait for its gate, and until when; zero: until a try has ended.
// At most most gates are tried at once, as a table can name any number of remotes.
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

// set lets a member try the gate; zero: no member tries it any more. No other function changes by.
func (s *gates[M]) set(g *gate[M], m M) {
	if g.isTried() {
		s.trying--
	}
	if g.by = m; g.isTried() {
		s.trying++
	}
}

func (g *gate[M]) isTried() bool { return g.by != *new(M) }
