package lane

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// crowd makes n lanes with one due task each.
func crowd(n int, name, remote string) *Lanes[*item] {
	s := New[*item](8, time.Hour, time.Now)
	for id := range int64(n) {
		to := remote
		if to != "" {
			to = fmt.Sprint(remote, id)
		}
		s.Add([]byte(fmt.Sprint(name, id)), []byte(to), Rank{ID: id + 1})
	}
	return s
}

// TestMemoryOfALane: a lane takes no more memory than docs/reference.md says. The test is not
// parallel, because it would count the memory of other tests.
func TestMemoryOfALane(t *testing.T) {
	for name, c := range map[string]struct {
		name, remote string
		most         uint64
	}{
		"short name":  {"group ", "", 450},
		"long name":   {strings.Repeat("g", 200), "", 600},
		"own remotes": {strings.Repeat("g", 200), "host=" + strings.Repeat("h", 100), 1050},
	} {
		const n = 200_000
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := crowd(n, c.name, c.remote)
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := (after.HeapAlloc - before.HeapAlloc) / n
		if t.Logf("%s: %d bytes", name, each); each > c.most {
			t.Errorf("%s: %d bytes a lane, more than %d", name, each, c.most)
		}
		runtime.KeepAlive(s)
	}
}

// TestEmptyLanesAreForgotten, with their gates and limited groups, however their tasks left them.
func TestEmptyLanesAreForgotten(t *testing.T) {
	t.Parallel()
	now := noon
	s := New[*item](100_000, time.Hour, func() time.Time { return now })
	s.Limit([]Limit{{Group: "g", Prefix: true, Slots: -1, Rate: 1_000_000, Per: time.Minute}})
	const n = 5000
	for id := range int64(n) {
		s.Add([]byte(fmt.Sprint("g", id)), []byte(fmt.Sprint("away", id%100)), Rank{ID: id + 1})
		s.Occupy(Key{fmt.Sprint("other", id), ""}, 1)
	}
	var tasks []*item
	for _, id := range s.Choose(100_000) {
		tasks = append(tasks, &item{Ticket{Read: time.Now(), Lane: Key{fmt.Sprint("g", id-1), fmt.Sprint("away", (id-1)%100)}, Rank: Rank{ID: id}}})
	}
	s.Prefetched(tasks)
	for i, t := range tasks {
		if i%2 == 0 {
			s.Drop(t)
		}
	}
	for t := s.Tryout(whichever); t != nil; t = s.Tryout(whichever) {
		s.Shut(t, now.Add(time.Hour))
		s.Ended(t, now)
	}
	for id := range int64(n) {
		s.Occupy(Key{fmt.Sprint("other", id), ""}, -1)
	}
	s.Forget()
	now = now.Add(2 * time.Hour)
	s.Fill()
	if len(s.index.all)+len(s.index.gates.all)+len(s.index.groups.all)+len(s.order.pausing.heap) > 0 {
		t.Errorf("left: %d lanes, %d gates, %d groups, %d that wait", len(s.index.all), len(s.index.gates.all), len(s.index.groups.all), len(s.order.pausing.heap))
	}
}

func BenchmarkTask(b *testing.B) {
	s := crowd(1000, "rest", "away")
	task := &item{Ticket{Lane: KeyOf("a", "")}}
	id := int64(10_000)
	for b.Loop() {
		id++
		*task = item{Ticket{Lane: task.Lane, Rank: Rank{ID: id, Priority: 1}, Read: time.Now()}}
		s.Add([]byte("a"), nil, task.Rank)
		s.Choose(1)
		s.Prefetched([]*item{task})
		s.Ended(s.Start(false, whichever), time.Now())
		if id%1000 == 0 {
			s.order.pace(9)
			s.Unread(true)
		}
	}
}
