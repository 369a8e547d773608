package ledger

import (
	"math/rand/v2"
	"testing"
	"time"
)

// world answers a queue at random, as a server may: whatever it says, no entry is lost, none is told
// twice, and each ends.
type world struct {
	*testing.T
	*rand.Rand
	queue  Queue
	now    time.Time
	told   map[*Entry]int
	rounds int
}

func TestAnyAnswersEndEachEntryOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		w := &world{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), now: epoch, told: map[*Entry]int{}}
		most := 1 + w.IntN(40)
		entries := w.comes(most)
		for w.queue.Len() > 0 {
			w.round()
			if w.rounds%8 == 0 && len(entries) < 60 {
				entries = append(entries, w.comes(w.IntN(4))...)
			}
			if w.rounds > 200*len(entries) {
				t.Fatalf("seed %d: %d rounds for %d entries", seed, w.rounds, len(entries))
			}
		}
		for _, e := range entries {
			if w.told[e] != 1 {
				t.Fatalf("seed %d: an entry %c was told %d times", seed, e.Kind, w.told[e])
			}
		}
	}
}

// comes puts entries into the queue, some of them of one row.
func (w *world) comes(n int) (entries []*Entry) {
	for range n {
		e := &Entry{Kind: Kind("pcmds"[w.IntN(5)]), ID: w.Int64N(30), Patient: w.IntN(4) == 0}
		if w.IntN(2) == 0 {
			e.Output = text(w.IntN(5))
		}
		entries = append(entries, e)
		w.queue.Seen(e)
	}
	return entries
}

// round has the server answer to one.
func (w *world) round() {
	w.rounds++
	w.now = w.now.Add(max(w.queue.Rest(w.now), 0))
	round := w.queue.Next(w.now)
	if len(round) == 0 {
		w.Fatal("nothing is to be written, though something is there, and its time has come")
	}
	ids := map[int64]bool{}
	for _, e := range round {
		if ids[e.ID] {
			w.Fatal("two of one row at once")
		}
		ids[e.ID] = true
	}
	var told []Told
	var look []*waiting
	switch w.IntN(4) {
	case 0, 1:
		rows := map[int64]Row{}
		for _, e := range round {
			if w.IntN(3) > 0 {
				rows[e.ID] = Row{Stays: w.IntN(4) == 0, Empty: w.IntN(2) == 0}
			}
		}
		told, look = w.queue.Written(round, rows)
	case 2:
		told, look = w.queue.Failed(round, errTable, Class(w.IntN(4)), w.now)
	default:
		told = lost(round)
	}
	w.now = w.now.Add(time.Duration(w.IntN(int(100 * time.Millisecond))))
	for _, e := range look {
		told = append(told, w.queue.Looked(e, Look{Ours: w.IntN(8) > 0, Free: w.IntN(3) == 0, Own: w.IntN(8) == 0, MayOwn: w.IntN(4) == 0}, w.now)...)
	}
	for _, one := range told {
		w.told[one.Entry]++
	}
}

// TestNoAnswerLastsForEver: what ends an entry at the latest, where the server always says the same.
func TestNoAnswerLastsForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails bool
		class Class
		look  Look
		want  Result
	}{
		"another has the row":                  {look: Look{Ours: true}, want: Locked},
		"another has what it needs":            {fails: true, class: Blocked, look: Look{Ours: true}, want: Locked},
		"it conflicts each time":               {fails: true, class: Conflicts, want: Refused},
		"the disk is full":                     {fails: true, class: Passing, want: Locked},
		"the table does not take it":           {fails: true, class: Refuses, want: Refused},
		"its run may have what it needs":       {fails: true, class: Blocked, look: Look{Ours: true, MayOwn: true}, want: Own},
		"its session is gone":                  {look: Look{Ours: true, Gone: true}, want: Lost},
		"nobody has it, and it is passed over": {look: Look{Ours: true, Free: true}, want: Refused},
		"nobody has it, and it has waited":     {fails: true, class: Blocked, look: Look{Ours: true, Free: true}, want: Locked},
		"it is not as it was read":             {want: Changed},
	} {
		q, now, ended := &Queue{}, epoch, map[int64]Result{}
		for _, e := range put(q, "ppppp") {
			e.Output = text(3)
		}
		rounds := 0
		for ; q.Len() > 0; rounds++ {
			now = now.Add(max(q.Rest(now), 0))
			round := q.Next(now)
			told, look := q.Written(round, nil)
			if c.fails {
				told, look = q.Failed(round, errTable, c.class, now)
			}
			for _, e := range look {
				told = append(told, q.Looked(e, c.look, now)...)
			}
			for _, one := range told {
				ended[one.ID] = one.Result
			}
			if rounds > 1000 {
				t.Fatal(name, "is never over")
			}
		}
		if took := now.Sub(epoch); took > lockedMost+time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		for id, result := range ended {
			if result != c.want {
				t.Errorf("%s: %d is %d, want %d", name, id, result, c.want)
			}
		}
		if len(ended) != 5 {
			t.Error(name, len(ended))
		}
	}
}
