package lane

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestGatesAlone uses gates of numbers at random: at most one member tries a gate, the number of
// gates that are tried keeps to its limit, and a member waits exactly while it may not try.
func TestGatesAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 1))
	now, most := noon, 2
	s := gates[int]{all: map[string]*gate[int]{}}
	for range 20_000 {
		now = now.Add(time.Duration(random.IntN(50)) * time.Millisecond)
		g, member := s.of(fmt.Sprint(random.IntN(4))), 1+random.IntN(3)
		barred, until := s.bars(g, member, most, func() time.Time { return now })
		tried := 0
		for _, other := range s.all {
			if other.isTried() {
				tried++
			}
		}
		may := !g.shut || g.by == member || g.by == 0 && !now.Before(g.until) && tried < most
		if barred == may || barred && !until.IsZero() && !until.After(now) {
			t.Fatalf("barred %t until %v, at %v: %+v", barred, until, now, *g)
		}
		if s.trying != tried || tried > most {
			t.Fatalf("%d are tried, it counts %d", tried, s.trying)
		}
		switch {
		case barred:
		case g.shut && random.IntN(2) == 0:
			s.set(g, member)
		case g.shut && g.by == member:
			g.shut = random.IntN(2) == 0
			g.until = now.Add(time.Second)
			s.set(g, 0)
		case random.IntN(20) == 0:
			g.shut, g.until = true, now.Add(time.Second)
			s.set(g, 0)
		}
	}
	if s.of("") != nil {
		t.Error("there is a gate before the target's own database")
	}
	s.of("1").members[1] = struct{}{}
	if s.tidy(now.Add(time.Minute)); len(s.all) != 1 {
		t.Error("left:", s.all)
	}
}

// TestOneTaskTriesAGate: the try needs no slot of run, and its success opens the gate for others.
func TestOneTaskTriesAGate(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Microsecond)
	s := New[*item](1, time.Hour, func() time.Time { return now })
	fetched := func() (tasks []*item) {
		for _, id := range s.Choose(100) {
			key := Key{fmt.Sprint(id % 3), "away"}
			if id < 100 {
				key = Key{fmt.Sprint(id), ""}
			}
			tasks = append(tasks, &item{Ticket{Read: time.Now(), Lane: key, Rank: Rank{ID: id}}})
		}
		s.Prefetched(tasks)
		return tasks
	}
	for id := int64(101); id < 110; id++ {
		s.Add([]byte(fmt.Sprint(id%3)), []byte("away"), Rank{ID: id})
	}
	if tasks := fetched(); len(tasks) != 1 {
		t.Fatalf("fetched %d tasks to try", len(tasks))
	}
	try := s.Tryout(whichever)
	if try == nil || len(fetched()) > 0 || s.Tryout(whichever) != nil {
		t.Fatal("a second one tries as well, or none does")
	}
	s.Add([]byte("1"), nil, Rank{ID: 1})
	fetched()
	local := s.Start(false, whichever)
	if local == nil {
		t.Fatal("the try has the only place")
	}
	s.Shut(try, now.Add(time.Second))
	s.Ended(try, time.Time{})
	if len(fetched()) > 0 {
		t.Error("it is tried again at once")
	}
	if at, pauses := s.Wake(); !pauses || !at.Equal(now.Add(time.Second)) {
		t.Errorf("it is tried again at %v %v", at, pauses)
	}
	now = now.Add(time.Second)
	if len(fetched()) != 1 {
		t.Fatal("it is not tried again")
	}
	try = s.Tryout(whichever)
	if s.Opened(try) {
		t.Error("it starts beside a task that has the only place")
	}
	s.Ended(try, time.Time{})
	s.Ended(local, now)
	fetched()
	if next := s.Start(false, whichever); next == nil || !s.Opened(next) {
		t.Error("it does not start when there is a place")
	}
	if busy, _, _ := s.Load(); busy != 1 {
		t.Error(busy, "places are in use")
	}
}

// TestAGateRemembersWhenToBeTried, also if the name of its remote is long, and is dropped after
// that time.
func TestAGateRemembersWhenToBeTried(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{"away", strings.Repeat("far ", 100)} {
		now := time.Now().Truncate(time.Microsecond)
		s := New[*item](2, time.Hour, func() time.Time { return now })
		fetched := func(id int64) (tasks []*item) {
			s.Add([]byte("g"), []byte(remote), Rank{ID: id})
			for _, id := range s.Choose(100) {
				tasks = append(tasks, &item{Ticket{Read: time.Now(), Lane: KeyOf("g", remote), Rank: Rank{ID: id}}})
			}
			s.Prefetched(tasks)
			return tasks
		}
		fetched(1)
		try := s.Tryout(whichever)
		s.Shut(try, now.Add(time.Second))
		s.Ended(try, time.Time{})
		s.order.pace(0)
		if len(fetched(2)) > 0 {
			t.Errorf("%.10s is tried again at once", remote)
		}
		now = now.Add(time.Second)
		if tasks := fetched(3); len(tasks) != 1 {
			t.Errorf("%.10s: fetched %d tasks", remote, len(tasks))
		}
		s.Forget()
		now = now.Add(time.Hour)
		if s.Fill(); len(s.index.gates.all)+s.index.gates.trying > 0 {
			t.Errorf("%.10s: %d gates, %d tried are left", remote, len(s.index.gates.all), s.index.gates.trying)
		}
	}
}
