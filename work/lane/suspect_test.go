package lane

import (
	"fmt"
	"testing"
	"time"
)

// court is a desk at which some tasks are suspects, each in a group of its own, and others are not.
// Each task comes back when it has ended.
type court struct {
	*desk
	lasts map[int64]time.Duration
	ends  map[*item]time.Time
}

func newCourt(t *testing.T, suspects, others int) court {
	c := court{newDesk(t, 4), map[int64]time.Duration{}, map[*item]time.Time{}}
	for i := range suspects {
		id := int64(i + 1)
		one := c.due(fmt.Sprint("suspect ", i), id, 0)
		one.Suspect = true
		c.lasts[id] = 10 * time.Second
	}
	for i := range others {
		id := int64(suspects + i + 1)
		c.due(fmt.Sprint("other ", i), id, 0)
		c.lasts[id] = 100 * time.Millisecond
	}
	return c
}

// pass lets time pass, and returns how many tasks have started in it.
func (c court) pass(d time.Duration) (suspects, others int) {
	const tick = 50 * time.Millisecond
	for until := c.at.Add(d); c.at.Before(until); c.at = c.at.Add(tick) {
		for t, at := range c.ends {
			if !c.at.Before(at) {
				delete(c.ends, t)
				c.Ended(t, c.at)
				c.Add([]byte(t.Lane.group), nil, t.Rank)
			}
		}
		for t := range c.tasks {
			c.tasks[t] = &item{Ticket{Read: time.Now(), Lane: c.tasks[t].Lane, Rank: c.tasks[t].Rank, Plan: c.at, Suspect: c.tasks[t].Suspect}}
		}
		c.Unread(time.Hour, false)
		c.fetch()
		for _, id := range c.startAll() {
			if c.ends[c.tasks[id]] = c.at.Add(c.lasts[id]); c.tasks[id].Suspect {
				suspects++
			} else {
				others++
			}
		}
	}
	return suspects, others
}

// TestSuspectsLeaveHalfOfTheTime: however many suspects there are, the others have at least about
// half of the time; and the suspects have their turn.
func TestSuspectsLeaveHalfOfTheTime(t *testing.T) {
	t.Parallel()
	for _, suspects := range []int{1, 6, 300} {
		// Undisturbed 4 others, of which each lasts 100 ms, would start 40 times a second.
		s, o := newCourt(t, suspects, 4).pass(5 * time.Minute)
		if o < 5*60*40*45/100 || s < 10 {
			t.Errorf("of %d suspects %d have started in 5 minutes, of 4 others %d", suspects, s, o)
		}
	}
}

// TestASuspectIsAlone for a while, and the next one is, too.
func TestASuspectIsAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id, group := range map[int64]string{1: "a", 2: "b"} {
		d.due(group, id, 0).Suspect = true
	}
	d.due("c", 3, 0)
	d.fetch()
	d.expect("started", d.startAll(), 1)
	d.at = d.at.Add(4 * time.Second)
	d.expect("started beside it", d.startAll())
	d.Ended(d.tasks[1], d.at)
	d.expect("started after it", d.startAll(), 3)
	if at, ok := d.Wake(); !ok || !at.Equal(d.at.Add(4*time.Second)) {
		t.Error("wakes at", at, ok)
	}
	d.at = d.at.Add(4 * time.Second)
	d.expect("started then", d.startAll(), 2)
	d.due("d", 4, 0)
	d.fetch()
	d.expect("started beside that", d.startAll())
	d.at = d.at.Add(quarantine)
	d.expect("started after the quarantine", d.startAll(), 4)
}

// TestNothingStartsWhileHalted, and nothing that waits is lost.
func TestNothingStartsWhileHalted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.fetch()
	d.Halt(true)
	d.due("b", 2, 0)
	d.fetch()
	d.expect("started", d.startAll())
	if _, ok := d.Wake(); ok {
		t.Error("it wakes somebody")
	}
	d.Halt(false)
	d.expect("started then", d.startAll(), 1, 2)
}
