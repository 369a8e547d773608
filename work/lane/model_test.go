package lane

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestLanesAgainstModel uses lanes at random, and compares them with a count of running tasks.
func TestLanesAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 150; seed++ {
		model{desk: newDesk(t, 1+int(seed%5)), random: rand.New(rand.NewPCG(seed, 1)), running: map[string]int{}}.play(seed)
	}
}

// model counts the running tasks of each lane: tasks that have started and not ended, without those
// that have passed their slot on.
type model struct {
	*desk
	random  *rand.Rand
	running map[string]int
}

func (m model) play(seed uint64) {
	groups := []string{"a", "b", "c"}
	var under []*item // running
	next, total := int64(0), 0
	begin := func(t *item) {
		if n := m.running[t.Lane.group]; n > int(max(t.Rank.Max, 0)) {
			m.t.Fatalf("seed %d: task %d with max %d starts while %d run", seed, t.Rank.ID, t.Rank.Max, n)
		}
		m.running[t.Lane.group]++
		total++
		under = append(under, t)
	}
	finish := func(t *item) {
		if t.holds != noSlots {
			m.running[t.Lane.group]--
		}
		m.Ended(t, m.at)
		under = slices.DeleteFunc(under, func(other *item) bool { return other == t })
	}
	for range 400 {
		m.at = m.at.Add(time.Duration(m.random.IntN(20)) * time.Millisecond)
		switch m.random.IntN(8) {
		case 0, 1:
			next++
			m.due(groups[m.random.IntN(3)], next, []int32{0, 0, 1, 3, -10}[m.random.IntN(5)])
		case 2:
			m.order.pace(m.random.IntN(20))
			m.fetch()
		case 3:
			for t := m.Start(false, whichever); t != nil; t = m.Start(false, whichever) {
				begin(t)
			}
		case 4, 5:
			if len(under) > 0 {
				finish(under[m.random.IntN(len(under))])
			}
		case 6:
			m.followed(under, begin, finish)
		case 7:
			m.Occupy(KeyOf("a", ""), 1)
			m.Occupy(KeyOf("a", ""), -1)
		}
		held := 0
		for _, t := range under {
			if t.holds == bothSlots {
				held++
			}
		}
		if busy, _, _ := m.Load(); busy > m.Slots.most() || busy != held {
			m.t.Fatalf("seed %d: %d of %d in use, tasks hold %d", seed, busy, m.Slots.most(), held)
		}
		for _, l := range m.index.all {
			if l.running != m.running[l.key.group] {
				m.t.Fatalf("seed %d: lane %s has %d running, want %d", seed, l.key.group, l.running, m.running[l.key.group])
			}
		}
	}
	for int64(total) < next { // until all have ended
		m.at = m.at.Add(20 * time.Millisecond)
		m.fetch()
		for t := m.Start(false, whichever); t != nil; t = m.Start(false, whichever) {
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
	if busy, waiting, ready := m.Load(); busy != 0 || waiting != 0 || ready != 0 {
		m.t.Fatalf("seed %d: left in the end: %d busy, %d waiting, %d ready", seed, busy, waiting, ready)
	}
	for _, l := range m.index.all {
		if l.running != 0 {
			m.t.Fatalf("seed %d: lane %s has %d running in the end", seed, l.key.group, l.running)
		}
	}
}

func (m model) followed(under []*item, begin, finish func(*item)) {
	if len(under) == 0 {
		return
	}
	before := under[m.random.IntN(len(under))]
	if before.holds != bothSlots {
		return
	}
	next := m.Follow(before, whichever)
	if next == nil {
		finish(before)
		return
	}
	want := laneSlot
	if next.Lane == before.Lane {
		want = noSlots
		m.running[before.Lane.group]--
	}
	if before.holds != want {
		m.t.Fatalf("task %d follows %d, which holds %d, want %d", next.Rank.ID, before.Rank.ID, before.holds, want)
	}
	begin(next)
	finish(before)
}
