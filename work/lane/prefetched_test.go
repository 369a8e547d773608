package lane

import (
	"testing"
	"time"
)

// TestNothingReadStaysForEver: a stale task would block its lane for ever. So a lane can start its
// tasks again after any wait, even if they were read at different times.
func TestNothingReadStaysForEver(t *testing.T) {
	t.Parallel()
	const fresh = time.Second
	d := newDesk(t, 100)
	first, last := d.due("a", 1, 0), d.due("b", 2, 0)
	d.fetch()
	passes := func(since time.Duration) { // since the read
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

// TestChangedRowsAreReadAgain, even if they were read just before.
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

// TestPrefetchedAlone counts the prefetched tasks, whichever way they leave.
func TestPrefetchedAlone(t *testing.T) {
	t.Parallel()
	p := prefetchedSet[*item]{now: func() time.Time { return noon }, fresh: time.Second, lanes: map[*lane[*item]]struct{}{}}
	one, other := &lane[*item]{}, &lane[*item]{}
	add := func(l *lane[*item], id int64, age time.Duration, expires time.Time) {
		p.add(l, &item{Ticket{Rank: Rank{ID: id}, Read: time.Now().Add(-age), Expires: expires}})
	}
	add(one, 1, 0, noon)
	add(one, 2, 0, noon.Add(-1))
	add(one, 3, 2*time.Second, time.Time{})
	add(other, 4, 0, time.Time{})
	if p.stale(one.prefetched[0].ticket()) || !p.stale(one.prefetched[1].ticket()) || !p.stale(one.prefetched[2].ticket()) {
		t.Error("what has expired, or was read long ago, is stale, and nothing else")
	}
	if old := p.age(false); len(old) != 2 || p.n != 2 || len(one.prefetched) != 1 {
		t.Error(len(old), "were old,", p.n, "are left")
	}
	if old := p.age(false); old != nil {
		t.Error("it looks again at once")
	}
	if first := p.remove(one, 0); first.Rank.ID != 1 || p.n != 1 {
		t.Error(first.Rank.ID, p.n)
	}
	if tasks := p.removeAll(other); len(tasks) != 1 || p.n != 0 || len(other.prefetched) != 0 {
		t.Error(len(tasks), p.n)
	}
}
