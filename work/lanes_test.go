package work

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// noon is when the lanes of these tests live.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is lanes with a clock of the test's own, and the tasks it has been given.
type desk struct {
	*lanes
	t     *testing.T
	at    time.Time
	tasks map[int64]*task
}

func newDesk(t *testing.T, run int) *desk {
	d := &desk{t: t, at: noon, tasks: map[int64]*task{}}
	d.lanes = newLanes(run, func() time.Time { return d.at })
	return d
}

func (d *desk) due(group string, id int64, maximum int32) *task {
	key := laneKey{group: group}
	t := &task{read: time.Now(), row: row{ID: id, Group: group, Max: maximum, Plan: d.at}, lane: key, rank: rank{id: id, max: maximum}}
	d.tasks[id] = t
	d.add([]byte(group), nil, t.rank)
	return t
}

// fetch takes all that is chosen.
func (d *desk) fetch() []int64 {
	ids := d.choose(1000)
	var taken []*task
	for _, id := range ids {
		d.tasks[id].read = time.Now()
		taken = append(taken, d.tasks[id])
	}
	d.take(taken)
	return ids
}

func whichever(*task) bool { return true }

// startAll starts all that may start.
func (d *desk) startAll() (ids []int64) {
	for t := d.start(whichever); t != nil; t = d.start(whichever) {
		ids = append(ids, t.row.ID)
	}
	return ids
}

func (d *desk) expect(what string, got []int64, want ...int64) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Errorf("%s %v, want %v", what, got, want)
	}
}

func TestLaneMax(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	for id := int64(1); id <= 3; id++ {
		d.due("zero", id, 0)
	}
	for id := int64(11); id <= 14; id++ {
		d.due("two", id, 2)
	}
	d.expect("fetched", sorted(d.fetch()), 1, 11, 12, 13)
	d.expect("started", sorted(d.startAll()), 1, 11, 12, 13)
	d.ended(d.tasks[12], d.at)
	d.expect("fetched", d.fetch(), 14)
	d.expect("started", d.startAll(), 14)
}

func TestLargerMaxOvertakes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.due("a", 1, 0)
	d.fetch()
	d.due("a", 2, 1)
	d.expect("started", d.startAll()) // 1 waits for 2, which is still to be read
	d.expect("chosen", d.choose(1000), 2)
	d.expect("started", d.startAll()) // or whose read is under way
	d.take([]*task{d.tasks[2]})
	d.expect("started", d.startAll(), 2)
	d.ended(d.tasks[2], d.at)
	d.expect("started", d.startAll(), 1)
}

// TestOutrankedLaneIsRead: a task that waits for a better one, which is still to be read, must not be what keeps that from being read.
func TestOutrankedLaneIsRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.due("a", 1, 0)
	d.expect("fetched", d.fetch(), 1)
	d.due("a", 2, 1)
	d.expect("fetched", d.fetch(), 2)
	d.expect("started", d.startAll(), 2)
}

// TestLanesShareRun: one busy lane starves nobody, whatever its ids.
func TestLanesShareRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1); id <= 100; id++ {
		d.due("busy", id, 1000)
	}
	d.due("b", 101, 0)
	d.due("c", 102, 0)
	d.expect("fetched", sorted(d.fetch()), 1, 2, 101, 102)
}

func TestPauseWithDrift(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	first := d.due("a", 1, -1000)
	d.fetch()
	d.startAll()
	d.at = d.at.Add(300 * time.Millisecond)
	d.ended(first, d.at)
	d.due("a", 2, -1000).row.Drift = true
	d.at = noon.Add(1000 * time.Millisecond)
	d.fetch()
	d.at = noon.Add(1299 * time.Millisecond)
	d.expect("started", d.startAll())
	if at, ok := d.wake(); !ok || !at.Equal(noon.Add(1300*time.Millisecond)) {
		t.Error("wakes at", at, ok)
	}
	d.at = noon.Add(1300 * time.Millisecond)
	d.expect("started", d.startAll(), 2)
}

func TestPauseWithoutDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan, ended, starts time.Time
	}{
		{noon, noon.Add(300 * time.Millisecond), noon.Add(time.Second)},
		{noon, noon.Add(2300 * time.Millisecond), noon.Add(3 * time.Second)},
		{noon.AddDate(-1, 0, 0).Add(400 * time.Millisecond), noon, noon.Add(400 * time.Millisecond)},
		{noon.AddDate(-2500, 0, 0).Add(400 * time.Millisecond), noon, noon.Add(400 * time.Millisecond)}, // beyond a time.Duration
	} {
		d := newDesk(t, 4)
		first := d.due("a", 1, -1000)
		first.row.Plan = c.plan
		d.fetch()
		d.startAll()
		d.ended(first, c.ended)
		d.due("a", 2, -1000)
		d.at = c.starts.Add(-time.Millisecond)
		d.fetch()
		d.expect("started", d.startAll())
		d.at = c.starts
		d.fetch()
		d.expect("started", d.startAll(), 2)
	}
}

// TestUnknownPauses: after a takeover a lane waits one whole pause.
func TestUnknownPauses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.doubt()
	d.due("a", 1, -1000)
	d.due("b", 2, 0)
	d.expect("fetched", d.fetch(), 2)
	d.at = d.at.Add(time.Second)
	d.expect("fetched", d.fetch(), 1)
}

func TestFillBringsWhatIsNew(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("b", 2, 0)
	d.fill(false)
	d.due("b", 1, 0) // it has changed its lane; 2 is gone
	d.due("b", 3, 1)
	d.filled()
	if _, _, ready := d.load(); ready != 2 {
		t.Errorf("%d ready, want 2", ready)
	}
	d.expect("fetched", d.fetch(), 3)
	d.startAll()
	d.ended(d.tasks[3], d.at)
	d.expect("fetched", d.fetch(), 1)
}

// TestFillLeavesOutWhatWasTaken: what is taken while a fill is under way, and has been seen by it, does not wait again, and so keeps nothing from starting; unless
// it was given back and was seen once more.
func TestFillLeavesOutWhatWasTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("a", 2, 0)
	d.due("a", 3, 0)
	d.fill(false)
	for id := int64(1); id <= 3; id++ {
		d.due("a", id, 0)
	}
	for id := int64(1); id <= 2; id++ {
		d.expect("fetched", d.fetch(), id)
		d.expect("started", d.startAll(), id)
		d.ended(d.tasks[id], d.at)
	}
	d.due("a", 2, 0)
	d.filled()
	if _, _, ready := d.load(); ready != 2 {
		t.Errorf("%d ready, want 2", ready)
	}
	d.expect("fetched", d.fetch(), 2)
	d.expect("started", d.startAll(), 2)
}

// TestManyOutrank: where many come before those that are taken, they are taken as far ahead as others.
func TestManyOutrank(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1000); id < 1040; id++ {
		d.due("a", id, 0)
		d.fetch()
		d.startAll()
		d.ended(d.tasks[id], d.at)
	}
	d.ahead = 20
	for id := int64(1040); id < 1100; id++ {
		d.due("a", id, 0)
	}
	if ids := d.fetch(); len(ids) != 21 || ids[0] != 1040 {
		t.Fatalf("fetched %v, want 1040 to 1060", ids)
	}
	for id := int64(1); id <= 100; id++ {
		d.due("a", id, 0)
	}
	if ids := d.fetch(); len(ids) != 21 || ids[0] != 1 {
		t.Errorf("fetched %v, want 1 to 21", ids)
	}
	d.expect("started", d.startAll(), 1)
	if ids := d.fetch(); len(ids) > 0 {
		t.Errorf("fetched %v, where so many are taken", ids)
	}
}

// TestPausesAreNotReadAhead: one that waits for a pause is taken when nothing of its lane is, also where it comes before one that is.
func TestPausesAreNotReadAhead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1); id <= 40; id++ {
		d.due("a", id, 0)
		d.fetch()
		d.startAll()
		d.ended(d.tasks[id], d.at)
	}
	d.ahead = 20
	d.due("a", 1003, -1)
	d.at = d.at.Add(time.Second)
	d.expect("fetched", d.fetch(), 1003)
	d.due("a", 1001, -1)
	d.due("a", 1002, -1)
	d.expect("fetched", d.fetch(), 1001)
}

// TestFillOfAllThatIsDue: where nothing of a fill may start before its end, it does not, and lanes have their order then.
func TestFillOfAllThatIsDue(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.fill(true)
	for _, group := range []string{"a", "b", "a"} {
		for _, id := range []int64{5, 3, 4} {
			d.due(group, id+int64(group[0])*10, 0)
		}
	}
	d.due("a", 999, 1)
	d.expect("fetched", d.fetch())
	if _, _, ready := d.load(); ready != 7 {
		t.Errorf("%d ready, want 7", ready)
	}
	d.filled()
	if _, _, ready := d.load(); ready != 7 {
		t.Errorf("%d ready, want 7", ready)
	}
	d.expect("fetched", d.fetch(), 983, 999)
	d.startAll()
	d.ended(d.tasks[999], d.at)
	d.expect("fetched", d.fetch(), 973)
}

func TestForgetAndPrune(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("a", 2, 0)
	d.fetch()
	if taken := d.forget(); len(taken) != 1 || taken[0].row.ID != 1 {
		t.Error("forgot", taken)
	}
	d.at = d.at.Add(2 * time.Minute)
	d.pace(0)
	if busy, waiting, ready := d.load(); busy+waiting+ready != 0 || len(d.all) != 0 {
		t.Error("left:", busy, waiting, ready, len(d.all))
	}
}

// TestLanesAgainstModel plays at random with lanes, and counts beside them what runs.
func TestLanesAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 150; seed++ {
		model{desk: newDesk(t, 1+int(seed%5)), random: rand.New(rand.NewPCG(seed, 1)), running: map[string]int{}}.play(seed)
	}
}

// model knows how many tasks of each lane run: those that were started and have not ended, less those that have passed their slot on.
type model struct {
	*desk
	random  *rand.Rand
	running map[string]int
}

func (m model) play(seed uint64) {
	groups := []string{"a", "b", "c"}
	var under []*task // running
	next, total := int64(0), 0
	begin := func(t *task) {
		if n := m.running[t.row.Group]; n > int(max(t.row.Max, 0)) {
			m.t.Fatalf("seed %d: task %d with max %d starts while %d run", seed, t.row.ID, t.row.Max, n)
		}
		m.running[t.row.Group]++
		total++
		under = append(under, t)
	}
	finish := func(t *task) {
		m.ended(t, m.at)
		if !t.passed {
			m.running[t.row.Group]--
		}
		under = slices.DeleteFunc(under, func(other *task) bool { return other == t })
	}
	for range 400 {
		m.at = m.at.Add(time.Duration(m.random.IntN(20)) * time.Millisecond)
		switch m.random.IntN(8) {
		case 0, 1:
			next++
			m.due(groups[m.random.IntN(3)], next, []int32{0, 0, 1, 3, -10}[m.random.IntN(5)])
		case 2:
			m.pace(m.random.IntN(20))
			m.fetch()
		case 3:
			for t := m.start(whichever); t != nil; t = m.start(whichever) {
				begin(t)
			}
		case 4, 5:
			if len(under) > 0 {
				finish(under[m.random.IntN(len(under))])
			}
		case 6:
			m.followed(under, begin, finish)
		case 7:
			m.occupy(laneKey{group: "a"})
			m.vacate(laneKey{group: "a"})
		}
		if busy, _, _ := m.load(); busy > m.run || busy < 0 {
			m.t.Fatalf("seed %d: %d of %d in use", seed, busy, m.run)
		}
	}
	for int64(total) < next { // all come to their end
		m.at = m.at.Add(20 * time.Millisecond)
		m.fetch()
		for t := m.start(whichever); t != nil; t = m.start(whichever) {
			begin(t)
		}
		if len(under) == 0 && m.at.Sub(noon) > time.Hour {
			m.t.Fatalf("seed %d: %d of %d tasks have started", seed, total, next)
		}
		for _, t := range slices.Clone(under) {
			finish(t)
		}
	}
	for _, t := range slices.Clone(under) {
		finish(t)
	}
	if busy, waiting, ready := m.load(); busy != 0 || waiting != 0 || ready != 0 {
		m.t.Fatalf("seed %d: left in the end: %d busy, %d waiting, %d ready", seed, busy, waiting, ready)
	}
	for _, l := range m.all {
		if l.running != 0 {
			m.t.Fatalf("seed %d: lane %s has %d running in the end", seed, l.key.group, l.running)
		}
	}
}

// followed lets a session go from one task to the next.
func (m model) followed(under []*task, begin, finish func(*task)) {
	if len(under) == 0 {
		return
	}
	before := under[m.random.IntN(len(under))]
	if before.passed || before.left {
		return
	}
	next := m.follow(before, whichever)
	if next == nil {
		finish(before)
		return
	}
	if before.passed != (next.lane == before.lane) || before.left == before.passed {
		m.t.Fatalf("task %d follows %d: passed %t, left %t", next.row.ID, before.row.ID, before.passed, before.left)
	}
	if before.passed {
		m.running[before.row.Group]--
	}
	begin(next)
	finish(before)
}

func sorted(ids []int64) []int64 {
	slices.Sort(ids)
	return ids
}

// TestUnheardLane: however much of a busy lane is taken, another one that would be next to start does not wait for that.
func TestUnheardLane(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	for id := range int64(100) {
		d.due("busy", id+1, 10)
	}
	d.pace(50)
	d.expect("fetched", d.fetch(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for _, id := range d.startAll() {
		d.ended(d.tasks[id], d.at)
	}
	d.fetch()
	d.startAll()
	d.pace(0) // those take longer
	if d.fetchable() {
		t.Error("there is enough")
	}
	d.due("other", 200, 0)
	d.due("other", 201, 0)
	d.due("busy", 202, 10)
	if !d.fetchable() {
		t.Error("the other lane is not to be read")
	}
	d.expect("fetched", d.fetch(), 200)
	d.tasks[300] = &task{read: time.Now(), row: row{ID: 300, Group: "urgent"}, lane: laneKey{group: "urgent"}, rank: rank{id: 300, priority: 1}}
	d.add([]byte("urgent"), nil, d.tasks[300].rank)
	d.expect("fetched", d.fetch(), 300)
}

// TestLaneAfterBack: a lane whose tasks have been given back, and then stopped, can be read as before.
func TestLaneAfterBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.pace(9)
	for id := range int64(3) {
		d.due("a", id+1, 0)
	}
	d.lane(laneKey{group: "a"}).recent = 9
	d.expect("fetched", d.fetch(), 1, 2, 3)
	one := d.start(whichever)
	two := d.queue(one, false, whichever)
	three := d.queue(two, false, whichever)
	for range 9 { // it takes its time
		d.pace(0)
	}
	d.back(one, []*task{two, three})
	if !d.drop(two) || !d.drop(three) {
		t.Error("they do not wait")
	}
	d.ended(one, d.at)
	d.due("a", 4, 0)
	d.expect("fetched", d.fetch(), 4)
}

// TestQueueAndBack: what is queued behind a task holds what that will not hold any more, and gives it back.
func TestQueueAndBack(t *testing.T) {
	t.Parallel()
	full := func() (d *desk, one *task, behind []*task) {
		d = newDesk(t, 1)
		d.pace(50)
		for id := range int64(3) {
			d.due("a", id+1, 0).lane = laneKey{group: "a"}
			d.due("b", id+11, 0)
		}
		d.lane(laneKey{group: "a"}).recent, d.lane(laneKey{group: "b"}).recent = 9, 9
		d.expect("fetched", d.fetch(), 1, 11, 2, 12, 3, 13)
		one = d.start(whichever)
		for last := one; len(behind) < 3; {
			if last = d.queue(last, false, whichever); last == nil {
				t.Fatal("nothing follows on", behind)
			}
			behind = append(behind, last)
		}
		if one.row.ID != 1 || len(behind) != 3 || behind[0].row.ID != 2 || behind[1].row.ID != 3 || behind[2].row.ID != 11 {
			t.Fatal(one.row.ID, behind)
		}
		if busy, waiting, _ := d.load(); busy != 1 || waiting > 2 {
			t.Error(busy, waiting)
		}
		return d, one, behind
	}
	rest := func(d *desk, what string, want ...int64) {
		t.Helper()
		var got []int64
		for next := d.start(whichever); next != nil; next = d.start(whichever) {
			got = append(got, next.row.ID)
			d.ended(next, d.at)
		}
		d.expect(what, got, want...)
		if busy, waiting, _ := d.load(); busy != 0 || waiting != 0 {
			t.Error(what, busy, waiting)
		}
		for key, l := range d.all {
			if l.running != 0 {
				t.Error(what, key, l.running)
			}
		}
	}

	d, one, behind := full()
	for _, ended := range append([]*task{one}, behind...) {
		d.ended(ended, d.at)
	}
	rest(d, "all ended, then", 12, 13)

	d, one, behind = full()
	d.back(one, behind)
	d.ended(one, d.at)
	rest(d, "back, then", 2, 3, 11, 12, 13)

	d, one, behind = full()
	d.ended(one, d.at)
	d.back(behind[0], behind[1:])
	d.ended(behind[0], d.at)
	rest(d, "some back, then", 3, 11, 12, 13)

	d, one, behind = full()
	d.rejoin([]*task{behind[2], behind[0], behind[1]})
	d.ended(one, d.at)
	rest(d, "rejoined, then", 2, 3, 11, 12, 13)

	d, one, behind = full()
	d.forget()
	if left := d.back(one, behind); len(left) != 3 {
		t.Error("after they were forgotten:", left)
	}
	for _, ended := range append([]*task{one}, behind...) {
		d.ended(ended, d.at)
	}
	rest(d, "forgotten, then")
}

// TestQueueInWideLane: where several tasks of a lane run at once one is queued behind another only when it could not start beside it.
func TestQueueInWideLane(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 3)
	d.pace(50)
	for id := range int64(4) {
		d.due("a", id+1, 1)
	}
	d.lane(laneKey{group: "a"}).recent = 9
	d.expect("fetched", d.fetch(), 1, 2, 3, 4)
	one := d.start(whichever)
	if next := d.queue(one, false, whichever); next != nil {
		t.Error(next.row.ID, "waits behind one beside which there is room")
	}
	d.start(whichever)
	if next := d.start(whichever); next != nil {
		t.Error(next.row.ID, "has found room")
	}
	next := d.queue(one, false, whichever)
	if next == nil || next.row.ID != 3 {
		t.Fatal(next)
	}
	if d.start(whichever) != nil {
		t.Error("there is room beside what is queued")
	}
	d.ended(one, d.at)
	if d.start(whichever) != nil {
		t.Error("one that has ended leaves its place to what was queued behind it")
	}
	d.ended(next, d.at)
	d.expect("then", []int64{d.start(whichever).row.ID}, 4)
}

// TestSearch: a task that fits is found behind however many lanes whose first ones do not, and these stay where they are.
func TestSearch(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	for id := range int64(40) {
		d.due(string(rune('A'+id)), id+1, 0)
	}
	d.fetch()
	last := func(t *task) bool { return t.row.ID == 40 }
	if other := d.start(last); other != nil {
		t.Error("few lanes are all of them: ", other.row.ID)
	}
	if found := d.search(last); found != d.tasks[40] {
		t.Error("not found")
	}
	if n := len(d.startAll()); n != 39 {
		t.Error(n, "are left")
	}
}
