package lane

import (
	"testing"
	"time"
)

// TestGroupsAlone: a group has the fewest slots that a rule gives it, waits until no rule holds it
// any more, and keeps its counted starts when its rules change.
func TestGroupsAlone(t *testing.T) {
	t.Parallel()
	at := noon
	limits := &Limits{now: func() time.Time { return at }, ended: map[ruleKey]time.Time{}}
	s := groups[string]{limits: limits, all: map[string]*group[string]{}}
	change := func(all ...Limit) *group[string] {
		limits.change(all)
		s.change()
		return s.of("ab")
	}
	expect := func(what string, g *group[string], until time.Time, credit int) {
		t.Helper()
		if held, opens := g.held(at); held != !until.IsZero() || !opens.Equal(until) {
			t.Errorf("%s: held %t until %v, want %v", what, held, opens, until)
		}
		if is := g.credit(); is != credit {
			t.Errorf("%s: credit %d, want %d", what, is, credit)
		}
	}
	if change(Limit{Group: "b", Slots: 1}) != nil {
		t.Error("there are limits for another group")
	}
	rate := Limit{Group: "a", Prefix: true, Slots: 5, Rate: 2, Per: time.Second}
	g := change(rate, Limit{Group: "ab", Slots: 3})
	g.members["one"] = struct{}{}
	if g.slots != 3 || s.of("ab") != g {
		t.Error("slots", g.slots)
	}
	expect("nothing has started", g, time.Time{}, 2)
	if !g.counts() {
		t.Error("no rate counts")
	}
	expect("one is handed out", g, time.Time{}, 1)
	g.began(true, at)
	g.began(true, at)
	full := at.Add(time.Second + expired + time.Nanosecond)
	expect("two have begun", g, full, 0)
	pause := Limit{Group: "", Prefix: true, Slots: -1, Paused: true, Until: at.Add(time.Minute)}
	g = change(rate, pause)
	expect("it is paused for longer", g, pause.Until, 0)
	if g.slots != 5 || len(g.members) != 1 {
		t.Error("after a change: ", g.slots, g.members)
	}
	at = at.Add(30 * time.Second)
	expect("the starts are long ago", g, pause.Until, 2)
	g.counts()
	if g.began(true, time.Time{}) != true || g.began(false, time.Time{}) != false {
		t.Error("what has not begun counts")
	}
	expect("it was given back", g, pause.Until, 2)
	g.began(false, at)
	delete(g.members, "one")
	if s.tidy(at); s.all["ab"] != g {
		t.Error("it has forgotten a start")
	}
	at = at.Add(time.Minute)
	if s.tidy(at); len(s.all) > 0 {
		t.Error("left:", s.all)
	}
	if g = change(Limit{Group: "ab", Slots: -1, Paused: true}); g == nil || !g.rules[0].Paused {
		t.Fatal("it is not paused")
	} else if held, until := g.held(at); !held || !until.IsZero() {
		t.Error("a pause without an end has one:", held, until)
	}
	if change(); len(s.all) > 0 {
		t.Error("left without limits:", s.all)
	}
}
