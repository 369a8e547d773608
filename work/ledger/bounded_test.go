package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// world answers a queue at random, like a server. Whatever it answers, each entry gets exactly one
// answer.
type world struct {
	*testing.T
	*rand.Rand
	queue  Queue
	now    time.Time
	told   map[*Entry]int
	rounds int
}

// errs are errors of a round: the table refuses it, a lock times out, a conflict, a full disk.
var errs = []error{errTable, &pgconn.PgError{Code: "55P03"}, &pgconn.PgError{Code: "40001"}, &pgconn.PgError{Code: "53100"}}

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

// comes puts entries into the queue; several may have the same row.
func (w *world) comes(n int) (entries []*Entry) {
	for range n {
		e := &Entry{Kind: Kind("pcmds"[w.IntN(5)]), ID: w.Int64N(30), Patient: w.IntN(4) == 0}
		e.Tell = func(Answer) { w.told[e]++ }
		if w.IntN(2) == 0 {
			e.Output = text(w.IntN(5))
		}
		entries = append(entries, e)
		w.queue.Seen(e)
	}
	return entries
}

// round answers one round at random.
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
	var look []*waiting
	switch w.IntN(4) {
	case 0, 1:
		rows := map[int64]Row{}
		for _, e := range round {
			if w.IntN(3) > 0 {
				rows[e.ID] = Row{Stays: w.IntN(4) == 0, Empty: w.IntN(2) == 0}
			}
		}
		look = w.queue.Written(round, rows)
	case 2:
		look = w.queue.Failed(round, errs[w.IntN(len(errs))], w.now)
	default:
		lost(round)
	}
	w.now = w.now.Add(time.Duration(w.IntN(int(100 * time.Millisecond))))
	for _, e := range look {
		w.queue.Looked(e, Reason(w.IntN(int(SessionGone)+1)), w.now)
	}
}

// TestNoAnswerLastsForEver: each entry ends in time, even if the answer is always the same.
func TestNoAnswerLastsForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		why  Reason
		want Result
	}{
		"another has the row":                  {why: LockedByOther, want: Locked},
		"another has what it needs":            {err: errs[1], why: LockedByOther, want: Locked},
		"it conflicts each time":               {err: errs[2], want: Refused},
		"the disk is full":                     {err: errs[3], want: Locked},
		"the table does not take it":           {err: errTable, want: Refused},
		"its run may have what it needs":       {err: errs[1], why: MaybeByRun, want: Own},
		"its session is gone":                  {why: SessionGone, want: Lost},
		"nobody has it, and it is passed over": {why: Unlocked, want: Refused},
		"it is not as it was read":             {why: RowChanged, want: Changed},
	} {
		q, now, got := &Queue{}, epoch, told{}
		for id := range int64(5) {
			got.put(q, Entry{Kind: Prepare, ID: id, Output: text(3)})
		}
		for rounds := 0; q.Len() > 0; rounds++ {
			now = now.Add(max(q.Rest(now), 0))
			round := q.Next(now)
			var look []*waiting
			if c.err == nil {
				look = q.Written(round, nil)
			} else {
				look = q.Failed(round, c.err, now)
			}
			for _, e := range look {
				q.Looked(e, c.why, now)
			}
			if rounds > 1000 {
				t.Fatal(name, "is never over")
			}
		}
		if took := now.Sub(epoch); took > lockedMost+time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		for id := range int64(5) {
			if a, is := got[id]; !is || a.Result != c.want {
				t.Errorf("%s: %d is %v, want %d", name, id, a, c.want)
			}
		}
	}
}
