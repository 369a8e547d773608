package lane

import (
	"testing"
	"time"
)

// TestSlotsAlone: a suspect keeps other tasks from starting until it ends; the end of another task
// does not change that; and a halt lasts whatever ends.
func TestSlotsAlone(t *testing.T) {
	t.Parallel()
	at := noon
	s := Slots{now: func() time.Time { return at }}
	s.Resize(2)
	expect := func(what string, full, quiet bool) {
		t.Helper()
		if s.isFull() != full || s.isQuiet() != quiet {
			t.Errorf("%s: full %t, quiet %t", what, s.isFull(), s.isQuiet())
		}
	}
	innocent, suspect := &Ticket{}, &Ticket{Suspect: true}
	s.busy = 1
	s.begins(innocent)
	expect("one of two runs", false, false)
	s.busy = 2
	s.begins(suspect)
	expect("a suspect starts", true, true)
	s.ends(innocent)
	expect("the other one ends", true, true)
	s.Resize(3)
	s.ends(suspect)
	expect("the suspect ends, and three may run", false, false)
	s.begins(suspect)
	at = at.Add(quarantine)
	expect("the suspect lasts", false, false)
	s.Halt(true)
	expect("halted", false, true)
	s.Halt(false)
	expect("not halted any more", false, false)
	if s.IsClosed() {
		t.Error("is closed")
	}
	if s.Close(); !s.IsClosed() {
		t.Error("is not closed")
	}
}

// TestASuspectIsAlone for a while, and the next suspect too.
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

// TestNothingStartsWhileHalted, and no waiting task is lost.
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
