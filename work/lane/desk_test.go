package lane

import (
	"slices"
	"testing"
	"time"
)

// noon is the time at which these tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// item is the task type of these tests.
type item struct{ Ticket }

// desk is lanes with a clock that the test sets, and the tasks that were added.
type desk struct {
	*Lanes[*item]
	t     *testing.T
	at    time.Time
	tasks map[int64]*item
}

func newDesk(t *testing.T, run int) *desk {
	d := &desk{t: t, at: noon, tasks: map[int64]*item{}}
	d.Lanes = New[*item](run, time.Hour, func() time.Time { return d.at })
	return d
}

func (d *desk) due(group string, id int64, maximum int32) *item {
	t := &item{Ticket{Read: time.Now(), Lane: KeyOf(group, ""), Rank: Rank{ID: id, Max: maximum}, Plan: d.at}}
	d.tasks[id] = t
	d.Add([]byte(group), nil, t.Rank)
	return t
}

func (d *desk) fetch() []int64 {
	ids := d.Choose(1000)
	var read []*item
	for _, id := range ids {
		d.tasks[id].Read = time.Now()
		read = append(read, d.tasks[id])
	}
	d.Prefetched(read)
	return ids
}

func whichever(*item) bool { return true }

func (d *desk) startAll() (ids []int64) {
	for t := d.Start(false, whichever); t != nil; t = d.Start(false, whichever) {
		ids = append(ids, t.Rank.ID)
	}
	return ids
}

func (d *desk) expect(what string, got []int64, want ...int64) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Errorf("%s %v, want %v", what, got, want)
	}
}

func sorted(ids []int64) []int64 {
	slices.Sort(ids)
	return ids
}
