package lane

import (
	"testing"
	"time"
)

// TestNothingReadStaysForEver: a lane whose first task was read among the last of its reading can
// start it again, however long it had to wait. What must not start as it was read would keep the
// lane from starting anything.
func TestNothingReadStaysForEver(t *testing.T) {
	t.Parallel()
	const fresh = time.Second
	d := newDesk(t, 100)
	first, last := d.due("a", 1, 0), d.due("b", 2, 0)
	d.fetch()
	passes := func(since time.Duration) { // since the reading
		began := time.Now().Add(-since)
		d.prefetched.looked = time.Time{}
		first.Read, last.Read = began, began.Add(40*time.Millisecond)
	}
	for since := fresh; since < 3*fresh; since += 5 * time.Millisecond { // as often as the leader looks
		passes(since)
		d.prefetched.fresh = fresh
		d.Unread(false)
	}
	d.expect("read again", sorted(d.fetch()), 1, 2)
	d.expect("started", sorted(d.startAll()), 1, 2)
}

// TestChangedRowsAreReadAgain, however fresh they are.
func TestChangedRowsAreReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.due("a", 1, 0)
	d.fetch()
	if old := d.Unread(true); len(old) != 1 {
		t.Error(len(old), "are to be read again")
	}
	d.expect("read again", d.fetch(), 1)
}
