package ledger

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
)

var (
	epoch    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errTable = error(&pgconn.PgError{Severity: "ERROR", Code: "23514", Message: "the table says no"})
)

// told has the answers that entries got, by id.
type told map[int64]Answer

func (told told) put(q *Queue, e Entry) {
	e.Tell = func(a Answer) { told[e.ID] = a }
	q.Seen(&e)
}

// put adds entries of these kinds with the ids 1, 2, 3 and so on.
func put(q *Queue, kinds string) told {
	all := told{}
	for i, kind := range kinds {
		all.put(q, Entry{Kind: Kind(kind), ID: int64(i + 1)})
	}
	return all
}

func ids(entries []*waiting) (ids []int64) {
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// wantIDs fails the test unless the entries have these ids.
func wantIDs(t *testing.T, what string, got []*waiting, want ...int64) {
	t.Helper()
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: %v, want %v", what, ids(got), want)
	}
}

// wantTold fails the test unless exactly these answers were given.
func wantTold(t *testing.T, what string, got, want told) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func text(n int) *string { s := string(make([]byte, n)); return &s }

func TestPreparationsComeBeforeEnds(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	put(q, "dmpsc")
	if !q.Urgent() || q.Len() != 5 {
		t.Error(q.Urgent(), q.Len())
	}
	wantIDs(t, "a round", q.Next(epoch), 3, 5, 1, 2, 4)
	if q.Urgent() || q.Len() != 0 || q.Rest(epoch) != hold.Never {
		t.Error("something is left")
	}
}

// TestARoundHasARowOnce, at most Most rows, and little more than sizeMost bytes of texts.
func TestARoundHasARowOnce(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	for _, kind := range []Kind{Mark, Done, Prepare} {
		q.Seen(&Entry{Kind: kind, ID: 7})
	}
	for _, kind := range []Kind{Prepare, Mark, Done} {
		if round := q.Next(epoch); len(round) != 1 || round[0].Kind != kind {
			t.Error("they do not come one after the other: ", len(round))
		}
	}
	for i := range int64(Most + 1) {
		q.Seen(&Entry{Kind: Done, ID: i})
	}
	if n := len(q.Next(epoch)); n != Most || q.Len() != 1 {
		t.Error(n, "rows at once")
	}
	q.Take()
	for i := range int64(3) {
		q.Seen(&Entry{Kind: Done, ID: i, Output: text(sizeMost/2 + 1)})
	}
	wantIDs(t, "with long texts", q.Next(epoch), 0, 1)
}

// TestAFailedRoundIsSplit until the row that causes the error is alone; the others are written.
func TestAFailedRoundIsSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kinds string
		odd   int64
		want  Answer
	}{
		{"pppppppp", 3, Answer{Result: Refused, Err: errTable}},
		{"dddpddm", 6, Answer{Result: Passed, Err: errTable}},
		{"cd", 1, Answer{Result: Refused, Err: errTable}},
		{"p", 1, Answer{Result: Refused, Err: errTable}},
	} {
		q, want, rounds := &Queue{}, told{}, 0
		got := put(q, c.kinds)
		for ; q.Len() > 0; rounds++ {
			round := q.Next(epoch)
			var look []*waiting
			if slices.Contains(ids(round), c.odd) {
				look = q.Failed(round, errTable, epoch)
			} else {
				look = q.Written(round, taken(round))
			}
			wantIDs(t, "to be looked at", look)
		}
		for i := range int64(len(c.kinds)) {
			want[i+1] = Answer{Result: Taken}
		}
		want[c.odd] = c.want
		wantTold(t, c.kinds, got, want)
		if rounds > 2*4 {
			t.Errorf("%s: %d rounds", c.kinds, rounds)
		}
	}
}

// taken is the answer for a round in which each row shows what was written.
func taken(round []*waiting) map[int64]Row {
	rows := map[int64]Row{}
	for _, e := range round {
		rows[e.ID] = Row{}
	}
	return rows
}

// TestWhatIsNotMetIsLookedAt: only if a session waits for the row; other entries are passed on.
func TestWhatIsNotMetIsLookedAt(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	got := put(q, "pdcmppdd")
	look := q.Written(q.Next(epoch), map[int64]Row{5: {Stays: true}, 6: {}, 7: {Stays: true}, 8: {Empty: true}})
	wantIDs(t, "to be looked at", look, 1, 3)
	wantTold(t, "the others", got, told{
		2: {Result: Passed}, 4: {Result: Passed}, 5: {Result: Refused, Err: fault.ErrKept}, 6: {Result: Taken}, 7: {Result: Passed}, 8: {Result: Taken, Empty: true},
	})
}

// TestARefusedPreparationIsTriedWithoutItsTexts: only once, and only if it has texts.
func TestARefusedPreparationIsTriedWithoutItsTexts(t *testing.T) {
	t.Parallel()
	q, got := &Queue{}, told{}
	got.put(q, Entry{Kind: Prepare, ID: 1, Output: text(10), Notice: text(1)})
	if look := q.Failed(q.Next(epoch), errTable, epoch); len(got)+len(look) > 0 {
		t.Fatal(got, look)
	}
	round := q.Next(epoch)
	if len(round) != 1 || round[0].size() > 0 {
		t.Fatal("it is not tried bare")
	}
	q.Failed(round, errTable, epoch)
	wantTold(t, "bare", got, told{1: {Result: Refused, Err: errTable}})

	got.put(q, Entry{Kind: Prepare, ID: 2, Output: text(10)})
	q.Written(q.Next(epoch), map[int64]Row{2: {Stays: true}})
	if round = q.Next(epoch); len(got) > 1 || len(round) != 1 {
		t.Fatal("what a trigger keeps is not tried bare: ", got)
	}
	q.Written(round, taken(round))
	wantTold(t, "taken bare", got, told{1: {Result: Refused, Err: errTable}, 2: {Result: Taken, Err: fault.ErrKept}})
}

// TestReason: a run is in the way only after its SQL began, and if nobody else is.
func TestReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		waited         bool
		seen           sight
		prepare, claim Reason
	}{
		{false, sight{ours: true, own: true, free: true}, SessionGone, SessionGone},
		{true, sight{there: true, own: true, free: true}, RowChanged, RowChanged},
		{false, sight{there: true, ours: true, own: true, others: true}, LockedByRun, LockedByOther},
		{false, sight{there: true, ours: true, own: true, free: true}, LockedByRun, Unlocked}, // FOR KEY SHARE
		{false, sight{there: true, ours: true, holds: true}, MaybeByRun, LockedByOther},
		{false, sight{there: true, ours: true, holds: true, others: true}, LockedByOther, LockedByOther},
		{false, sight{there: true, ours: true, holds: true, free: true}, Unlocked, Unlocked},
		{false, sight{there: true, ours: true}, LockedByOther, LockedByOther},
		{true, sight{there: true, ours: true, free: true}, MaybeByRun, LockedByOther},
		{true, sight{there: true, ours: true, free: true, others: true}, LockedByOther, LockedByOther},
	} {
		if p, q := c.seen.reason(Prepare, c.waited), c.seen.reason(Claim, c.waited); p != c.prepare || q != c.claim {
			t.Errorf("%+v, waited %t: %d, %d", c.seen, c.waited, p, q)
		}
	}
}

// TestLooked: the queue decides what follows from the reason.
func TestLooked(t *testing.T) {
	t.Parallel()
	later := Answer{Result: -1} // tried again
	for _, c := range []struct {
		name    string
		kind    Kind
		patient bool
		why     Reason
		since   time.Duration // since the entry first met a lock
		want    Answer
	}{
		{"the row is another now", Prepare, false, RowChanged, 0, Answer{Result: Changed}},
		{"another, of a run that must not be repeated", Prepare, true, RowChanged, time.Hour, Answer{Result: Changed}},
		{"its own lock", Prepare, false, LockedByRun, 0, Answer{Result: Own}},
		{"its own lock, and it must not be repeated", Prepare, true, LockedByRun, 0, Answer{Result: Own}},
		{"maybe its own", Prepare, false, MaybeByRun, 0, Answer{Result: Own}},
		{"maybe its own, and it must not be repeated", Prepare, true, MaybeByRun, ownMost - 1, later},
		{"maybe its own for long", Prepare, true, MaybeByRun, ownMost, Answer{Result: Own}},
		{"another's lock", Prepare, false, LockedByOther, lockedMost - 1, later},
		{"another's lock for long", Prepare, false, LockedByOther, lockedMost, Answer{Result: Locked}},
		{"another's for long before its SQL began", Claim, false, LockedByOther, lockedMost, Answer{Result: Locked}},
		{"another's for very long, and it must not be repeated", Prepare, true, LockedByOther, time.Hour, later},
	} {
		q, got, now := &Queue{}, told{}, epoch.Add(c.since)
		got.put(q, Entry{Kind: c.kind, ID: 1, Patient: c.patient})
		e := q.Next(epoch)[0]
		e.since = epoch
		q.Looked(e, c.why, now)
		if c.want != later {
			wantTold(t, c.name, got, told{1: c.want})
			continue
		}
		if len(got) > 0 || q.Len() != 1 || len(q.Next(now)) > 0 || q.Rest(now) <= 0 || q.Rest(now) > lockedPause {
			t.Errorf("%s: told %v, %d left, for %v", c.name, got, q.Len(), q.Rest(now))
		}
	}
}

// TestTriesComeLessOften: while somebody else holds a lock on the row.
func TestTriesComeLessOften(t *testing.T) {
	t.Parallel()
	q, now, tries := &Queue{}, epoch, 0
	got := put(q, "p")
	for ; q.Len() > 0; tries++ {
		now = now.Add(q.Rest(now))
		look := q.Written(q.Next(now), nil)
		q.Looked(look[0], LockedByOther, now)
	}
	wantTold(t, "in the end", got, told{1: {Result: Locked}})
	if took := now.Sub(epoch); took < lockedMost || took > lockedMost+lockedPause || tries > 120 {
		t.Errorf("%d tries in %v", tries, took)
	}
}

// TestWhatWaitsHoldsUpNothing: other entries are written meanwhile.
func TestWhatWaitsHoldsUpNothing(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	put(q, "p")
	look := q.Failed(q.Next(epoch), &pgconn.PgError{Code: "55P03"}, epoch)
	wantIDs(t, "to be looked at", look, 1)
	q.Looked(look[0], LockedByOther, epoch)
	q.Seen(&Entry{Kind: Prepare, ID: 2})
	q.Seen(&Entry{Kind: Done, ID: 3})
	if rest := q.Rest(epoch); rest != 0 {
		t.Error("nothing is done for", rest)
	}
	wantIDs(t, "meanwhile", q.Next(epoch), 2, 3)
	wantIDs(t, "later", q.Next(epoch.Add(lockedPause)), 1)
}

// TestALoneSessionWaitsForNoEnds: a few ends are written after its row, many ends together with it.
func TestALoneSessionWaitsForNoEnds(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	put(q, "dpd")
	wantIDs(t, "first", q.Next(epoch), 2)
	wantIDs(t, "then", q.Next(epoch), 1, 3)
	put(q, "dpdd")
	wantIDs(t, "with many", q.Next(epoch), 2, 1, 3, 4)
	put(q, "dpp")
	wantIDs(t, "of several sessions", q.Next(epoch), 2, 3, 1)
}
