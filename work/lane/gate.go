package lane

import (
	"maps"
	"time"
)

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
