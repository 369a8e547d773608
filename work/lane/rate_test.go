package lane

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestARateHoldsInEveryStretch, whenever started tasks begin, and however they come back.
func TestARateHoldsInEveryStretch(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 60; seed++ {
		random := rand.New(rand.NewPCG(seed, 2))
		d := newDesk(t, 50)
		rate, per := 1+random.IntN(20), time.Duration(50+random.IntN(500))*time.Millisecond
		d.Limit([]Limit{{Group: "", Prefix: true, Slots: -1, Rate: rate, Per: per}})
		var began []time.Time
		var started []*item
		next := int64(0)
		for len(began) < 10*rate {
			for len(d.tasks) < len(began)+100 {
				next++
				d.due("a", next, 100)
			}
			d.at = d.at.Add(time.Duration(random.IntN(30)) * time.Millisecond)
			d.fetch()
			for t := d.Start(false, whichever); t != nil; t = d.Start(false, whichever) {
				started = append(started, t)
			}
			for len(started) > 0 && random.IntN(3) > 0 {
				one := started[0]
				started = started[1:]
				if random.IntN(10) == 0 {
					d.Ended(one, time.Time{}) // the task did not begin, and waits again
					d.Enter(one)
					continue
				}
				began = append(began, d.at)
				d.Began(one, d.at)
				d.Ended(one, d.at)
			}
			if d.at.Sub(noon) > time.Hour {
				t.Fatalf("seed %d: only %d began", seed, len(began))
			}
		}
		for i := rate; i < len(began); i++ {
			if apart := began[i].Sub(began[i-rate]); apart <= per {
				t.Fatalf("seed %d: %d starts in %s, allowed are %d in %s", seed, rate+1, apart, rate, per)
			}
		}
	}
}

// TestALargeRateIsNotCountedOneByOne: its memory is bounded, and tasks still reach the rate.
func TestALargeRateIsNotCountedOneByOne(t *testing.T) {
	t.Parallel()
	w := &window{rule: &rule{Limit: Limit{Rate: 100_000, Per: time.Minute}}}
	total := 0
	for at := noon; at.Sub(noon) < 3*time.Minute; at = at.Add(500 * time.Microsecond) {
		if full, _ := w.full(at); !full {
			w.add(at)
			total++
		}
	}
	if total < 290_000 || total > 300_000 || len(w.starts) > 3*burstShare {
		t.Error("started ", total, ", kept ", len(w.starts))
	}
}

// TestUnknownStarts: a new leader waits until tasks that the old leader may have started do not
// count any more.
func TestUnknownStarts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	rate := []Limit{{Group: "a", Slots: -1, Rate: 2, Per: time.Second}}
	d.Doubt()
	d.Limit(rate)
	d.due("a", 1, 4)
	d.due("b", 2, 4)
	d.expect("fetched", d.fetch(), 2)
	if at, ok := d.Wake(); !ok || !at.Equal(noon.Add(time.Second+expired)) {
		t.Error("wakes at", at, ok)
	}
	d.at = d.at.Add(time.Second + expired)
	d.expect("fetched", d.fetch(), 1)
	d.Limit(append(rate, Limit{Group: "c", Slots: -1, Rate: 1, Per: time.Hour}))
	d.due("c", 3, 4)
	d.expect("fetched under a new row", d.fetch(), 3)
	rate[0].Per = time.Hour
	d.Limit(rate)
	d.due("a", 4, 4)
	d.expect("fetched under a row that was changed since", d.fetch(), 4)
}
