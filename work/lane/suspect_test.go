package lane

import (
	"testing"
	"time"
)

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
	d.expect("started after it", d.startAll(), 2)
	if at, ok := d.Wake(); !ok || !at.Equal(d.at.Add(quarantine)) {
		t.Error("wakes at", at, ok)
	}
	d.at = d.at.Add(quarantine)
	d.expect("started after the quarantine", d.startAll(), 3)
}

// TestNothingStartsWhileHalted, and nothing that waits is lost.
func TestNothingStartsWhileHalted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.fetch()
	d.Slots.Halt(true)
	d.due("b", 2, 0)
	d.fetch()
	d.expect("started", d.startAll())
	if _, ok := d.Wake(); ok {
		t.Error("it wakes somebody")
	}
	d.Slots.Halt(false)
	d.expect("started then", d.startAll(), 1, 2)
}
