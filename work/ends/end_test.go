package ends

import (
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
)

// replies are answers of a table to an end. An end waits for those that pass by themselves.
var replies = []struct {
	err    error
	passes bool
}{
	{&pgconn.PgError{Severity: "ERROR", Code: "55P03", Routine: "ProcessInterrupts"}, true},
	{&pgconn.PgError{Severity: "ERROR", Code: "40P01", Routine: "DeadLockReport"}, true},
	{&pgconn.PgError{Severity: "ERROR", Code: "2200H"}, true},
	{&pgconn.PgError{Severity: "ERROR", Code: "40001"}, true},
	{&pgconn.PgError{Severity: "ERROR", Code: "40001", Where: "a trigger"}, false}, // waits for a second at most
	{&pgconn.PgError{Severity: "ERROR", Code: "23514"}, false},
	{&pgconn.PgError{Severity: "ERROR", Code: "P0001", Where: "a trigger"}, false},
	{&pgconn.PgError{Severity: "ERROR", Code: "22P05"}, false},
}

func randomEnd() End {
	o := run.Outcome{Task: &run.Task{Row: run.Row{ID: 1}}, Written: make(chan struct{})}
	if rand.IntN(2) == 0 {
		o.Result = &exec.Result{Failure: text.NewFailure("odd", "22012")}
	}
	return End{Outcome: o, Known: &inflight.Task{Task: o.Task}}
}

// TestRefusedEndsComeToAnEnd: for any order of answers, each refusal moves an end to a later stage,
// and an end waits only for answers that pass by themselves.
func TestRefusedEndsComeToAnEnd(t *testing.T) {
	t.Parallel()
	for range 2000 {
		e := randomEnd()
		before, refusals := e.stage, 0
		for v := again; v != giveUp; {
			reply := replies[rand.IntN(len(replies))]
			v = e.refused(reply.err)
			if e.stage < before {
				t.Fatalf("stage %d comes after %d", e.stage, before)
			}
			if before = e.stage; reply.passes && v != wait {
				t.Fatalf("%v: verdict %d", reply.err, v)
			}
			if v != wait {
				refusals++
			}
			if refusals > 9 {
				t.Fatalf("refused %d times, and still tried", refusals)
			}
		}
	}
}

// TestAnEndThatIsLeftOut by a trigger is written with less each time, and at last given up.
func TestAnEndThatIsLeftOut(t *testing.T) {
	t.Parallel()
	e := randomEnd()
	for tries := 0; e.passedOver(inflight.Standing{State: "WORK", Ours: true}, true) != giveUp; tries++ {
		if tries > int(nothing) {
			t.Fatal("it is tried for ever")
		}
	}
}

// TestAnEndThatTheServerContradicts is left to the judge: a standby was promoted that lacks the commit.
func TestAnEndThatTheServerContradicts(t *testing.T) {
	t.Parallel()
	shows := inflight.Standing{State: "WORK", Ours: true, Undone: true}
	good, refused := randomEnd(), randomEnd()
	good.Result, good.Fault = nil, nil
	refused.Result = &exec.Result{Failure: text.NewFailure("odd", "23503")}
	if got := good.passedOver(shows, false); got != forget {
		t.Error("DONE:", got)
	}
	if got := refused.passedOver(shows, false); got != wait {
		t.Error("FAIL:", got)
	}
}

// TestEndsInTheQueue: each end comes out exactly once, whatever delays it, and releases its runner
// exactly once.
func TestEndsInTheQueue(t *testing.T) {
	t.Parallel()
	for range 200 {
		drains := rand.IntN(2) == 0
		q, all := queue{drains: drains}, map[*inflight.Task]int{}
		for range rand.IntN(20) {
			e := randomEnd()
			all[e.Known] = 0
			q.add(e)
		}
		for range 10 {
			ends := q.ripe(farAway)
			for i := range ends {
				if rand.IntN(2) == 0 {
					ends[i].refused(replies[rand.IntN(4)].err)
				}
			}
			done := len(ends) - rand.IntN(len(ends)+1)
			for i := range ends[:done] {
				all[ends[i].Known]++
				ends[i].release()
				ends[i].release() // closes nothing twice
			}
			if rand.IntN(2) == 0 {
				open := func(e *End) bool { return all[e.Known] == 0 }
				q.putBack(ends, open)
				q.putBack(ends, open)
			} else {
				q.postpone(ends[done:])
			}
		}
		left := q.takeAll()
		for _, e := range left {
			all[e.Known]++
		}
		for _, times := range all {
			if times != 1 {
				t.Fatalf("an end has come out %d times", times)
			}
		}
		if q.size != 0 {
			t.Fatalf("%d bytes are still counted", q.size)
		}
	}
}

// TestKeep: an end stays among the new ones unless something has delayed it, or it may delay others.
func TestKeep(t *testing.T) {
	t.Parallel()
	fresh, tooLong, failed, late := randomEnd(), randomEnd(), randomEnd(), randomEnd()
	tooLong.Task.TooLong = true
	failed.refused(replies[0].err)
	q := queue{}
	for _, e := range []End{fresh, tooLong, failed} {
		q.keep(e)
	}
	q.postpone([]End{late})
	if len(q.fresh) != 1 || q.fresh[0].Known != fresh.Known || len(q.aside) != 3 {
		t.Errorf("%d ends are new, %d are set aside", len(q.fresh), len(q.aside))
	}
	for _, e := range q.aside {
		if e.Written != nil || e.backoff.Since.IsZero() || e.alone() == (e.Known == late.Known) {
			t.Errorf("%+v", e.backoff)
		}
	}
}

// TestAFailureIsNotTriedAgainWhereThatIsRefused: the table may refuse only the retry.
func TestAFailureIsNotTriedAgainWhereThatIsRefused(t *testing.T) {
	t.Parallel()
	e := randomEnd()
	e.Result = &exec.Result{Failure: text.NewFailure("odd", "22012")}
	for e.stage != final {
		if e.refused(errOdd) != again {
			t.Fatal("given up before")
		}
	}
	if !e.noRetry() || e.isLess() {
		t.Error("it is to be whole, and the last try")
	}
}

var (
	errOdd  = error(&pgconn.PgError{Severity: "ERROR", Code: "23514"})
	farAway = hold.Backoff{}.After.AddDate(9999, 0, 0)
)
