package lane

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// begin starts all tasks that may start, and says that they begin at once.
func (d *desk) begin() (ids []int64) {
	for t := d.Start(false, whichever); t != nil; t = d.Start(false, whichever) {
		d.Began(t, d.at)
		ids = append(ids, t.Rank.ID)
	}
	return ids
}

// dueIn is like due, but for a remote, whose gate it opens.
func (d *desk) dueIn(group, remote string, id int64, maximum int32) *item {
	t := &item{Ticket{Read: time.Now(), Lane: KeyOf(group, remote), Rank: Rank{ID: id, Max: maximum}, Plan: d.at}}
	d.tasks[id] = t
	d.Add([]byte(group), []byte(remote), t.Rank)
	d.Opened(t)
	return t
}

func TestAPausedGroupStartsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.due("a", 1, 0)
	d.due("b", 2, 0)
	d.fetch()
	d.Limit([]Limit{{Group: "a", Paused: true, Slots: -1}})
	d.expect("started", d.begin(), 2)
	d.due("a", 3, 5)
	d.expect("fetched", d.fetch())
	pause := Limit{Group: "a", Paused: true, Until: d.at.Add(time.Second), Slots: -1}
	if resumed, next := d.Limit([]Limit{pause}); resumed || !next.Equal(pause.Until) {
		t.Error(resumed, next)
	}
	d.expect("fetched", d.fetch())
	if at, ok := d.Wake(); !ok || !at.Equal(noon.Add(time.Second)) {
		t.Error("wakes at", at, ok)
	}
	if paused, _ := d.Limits.Paused("a"); !paused {
		t.Error("is not paused")
	}
	d.at = d.at.Add(time.Second)
	d.expect("fetched", d.fetch(), 3)
	d.expect("started", d.begin(), 3)
	if resumed, next := d.Limit([]Limit{pause}); resumed || !next.IsZero() {
		t.Error(resumed, next)
	}
	if paused, ended := d.Limits.Paused("a"); paused || !ended.Equal(d.at) || !d.Limits.LastPause().Equal(d.at) {
		t.Error("paused", paused, ended, d.Limits.LastPause())
	}
	if paused, ended := d.Limits.Paused("b"); paused || !ended.IsZero() {
		t.Error("b is paused", paused, ended)
	}
}

// TestTheEndOfAPauseIsRemembered after its row is deleted or has no pause any more.
func TestTheEndOfAPauseIsRemembered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	pause := Limit{Group: "a", Prefix: true, Paused: true, Slots: -1}
	d.Limit([]Limit{pause})
	d.at = d.at.Add(time.Second)
	d.Limit(nil)
	d.Limit(nil)
	d.at = d.at.Add(time.Second)
	if paused, ended := d.Limits.Paused("ab"); paused || !ended.Equal(noon.Add(time.Second)) {
		t.Error(paused, ended)
	}
	d.Limit([]Limit{pause})
	d.at = d.at.Add(time.Second)
	d.Limit([]Limit{{Group: "a", Prefix: true, Slots: 1}})
	if paused, ended := d.Limits.Paused("ab"); paused || !ended.Equal(d.at) {
		t.Error(paused, ended)
	}
}

// TestLimitsAlone finds pauses by the names in the rows, without lanes.
func TestLimitsAlone(t *testing.T) {
	t.Parallel()
	at := noon
	limits := Limits{now: func() time.Time { return at }, ended: map[ruleKey]time.Time{}}
	holds := func(want string, groups ...string) {
		t.Helper()
		got := ""
		for _, group := range groups {
			paused, _ := limits.Paused(group)
			if limits.Holds([]byte(group)) != paused {
				t.Errorf("%s: two answers", group)
			}
			if paused {
				got += group + " "
			}
		}
		if got != want {
			t.Errorf("paused %q, want %q", got, want)
		}
	}
	holds("", "a", "ab", "c")
	limits.change([]Limit{{Group: "a", Slots: 1}, {Group: "c", Slots: -1, Rate: 1, Per: time.Second}})
	holds("", "a", "ab", "c")
	if !limits.rated.Load() || len(limits.of("a")) != 1 || len(limits.of("ab")) != 0 {
		t.Error("limits of groups: ", limits.rated.Load(), limits.of("a"), limits.of("ab"))
	}
	until := at.Add(time.Minute)
	if resumed, next := limits.change([]Limit{
		{Group: "a", Prefix: true, Paused: true, Until: until}, {Group: "c", Paused: true},
	}); resumed || !next.Equal(until) {
		t.Error(resumed, next)
	}
	holds("a ab c ", "a", "ab", "c", "ca", "")
	at = until
	holds("c ", "a", "ab", "c")
	if resumed, _ := limits.change(nil); !resumed || !limits.LastPause().Equal(until) {
		t.Error("the last pause has ended", limits.LastPause(), resumed)
	}
	holds("", "a", "ab", "c")
	if limits.rated.Load() {
		t.Error("there is no rate any more")
	}
}

// TestRowsThatMatchAllHold: rows match by the whole name, by its beginning, or match all; also long
// names.
func TestRowsThatMatchAllHold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*nameMost)
	hashed := "\x01" + strings.Repeat("0", 2*hashSize) + "hashed by the server"
	limits := []Limit{
		{Group: "", Prefix: true, Slots: 7},
		{Group: "pay", Prefix: true, Slots: 5},
		{Group: "pay-eu", Prefix: true, Slots: 4},
		{Group: "pay-eu-1", Slots: 3},
		{Group: strings.Repeat("x", nameMost-1), Prefix: true, Slots: 2},
		{Group: long, Slots: 1},
		{Group: "hashed by", Prefix: true, Slots: 6},
	}
	for group, slots := range map[string]int{
		"": 7, "pa": 7, "pay": 5, "payment": 5, "pay-eu-1": 3, "pay-eu-12": 4, long: 1, long + "x": 2, hashed: 6, "\x0166000": 7,
	} {
		d := newDesk(t, 100)
		for id := range int64(10) {
			d.due(group, id, 100)
		}
		d.Limit(limits)
		d.fetch()
		if started := len(d.begin()); started != slots {
			t.Errorf("%.20q: %d started, want %d", group, started, slots)
		}
	}
}

// TestSlotsCountOverAllRemotes: whatever max says, and with the runs of an old leader.
func TestSlotsCountOverAllRemotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.Limit([]Limit{{Group: "a", Slots: 2}})
	for id := int64(1); id <= 6; id++ {
		d.dueIn("a", fmt.Sprint("remote", id%3), id, 100)
	}
	d.dueIn("b", "remote1", 7, 0)
	d.fetch()
	started := d.begin()
	if len(started) != 3 || started[0] == 7 && started[1] == 7 {
		t.Fatal("started", started)
	}
	d.Occupy(KeyOf("a", "other"), 1)
	for _, id := range started {
		if id != 7 {
			d.Ended(d.tasks[id], d.at)
		}
	}
	d.fetch()
	if started = d.begin(); len(started) != 1 {
		t.Error("started", started)
	}
	d.Occupy(KeyOf("a", "other"), -1)
	d.fetch()
	if more := d.begin(); len(more) != 1 {
		t.Error("started", more)
	}
	d.Limit([]Limit{{Group: "a", Slots: 0}})
	for _, id := range started {
		d.Ended(d.tasks[id], d.at)
	}
	d.fetch()
	d.expect("started with slots 0", d.begin())
	d.Limit(nil)
	d.fetch()
	if left := d.begin(); len(left) != 2 {
		t.Error("started without limits", left)
	}
}

// TestTheLastOfASlotFollowsInItsSession: in a group with one slot, the next task follows at once.
func TestTheLastOfASlotFollowsInItsSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.Limit([]Limit{{Group: "a", Slots: 1}})
	first := d.due("a", 1, 9)
	d.due("a", 2, 9)
	d.order.pace(10)
	first.Plan = d.at
	d.fetch()
	d.expect("started", d.begin(), 1)
	d.Prefetched([]*item{d.tasks[2]})
	if next := d.Queue(first, false, whichever); next != d.tasks[2] {
		t.Fatal("queued", next)
	}
	d.Ended(first, d.at)
	d.Ended(d.tasks[2], d.at)
	for _, g := range d.index.groups.all {
		if g.running != 0 {
			t.Error("running in the end", g.running)
		}
	}
}

// TestAHeldGroupLetsOthersTryTheGate: groups with the same remote can try it.
func TestAHeldGroupLetsOthersTryTheGate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id, group := range []string{"a", "b"} {
		task := &item{Ticket{Read: time.Now(), Lane: KeyOf(group, "away"), Rank: Rank{ID: int64(id)}}}
		d.tasks[int64(id)] = task
		d.Add([]byte(group), []byte("away"), task.Rank)
	}
	d.expect("fetched", d.fetch(), 0)
	d.Limit([]Limit{{Group: "a", Paused: true, Slots: -1}})
	d.expect("fetched", d.fetch(), 1)
	if try := d.Tryout(whichever); try != d.tasks[1] {
		t.Error("tries", try)
	}
}
