package ledger

import (
	"errors"
	"slices"
	"testing"
	"time"
)

var (
	epoch    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errTable = errors.New("the table says no")
)

// put adds entries with the ids 1, 2, 3 and so on.
func put(q *Queue, kinds string) (entries []*Entry) {
	for i, kind := range kinds {
		e := &Entry{Kind: Kind(kind), ID: int64(i + 1)}
		entries = append(entries, e)
		q.Seen(e)
	}
	return entries
}

func ids(entries []*waiting) (ids []int64) {
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// wantIDs fails the test unless the entries are those.
func wantIDs(t *testing.T, what string, got []*waiting, want ...int64) {
	t.Helper()
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: %v, want %v", what, ids(got), want)
	}
}

// wantTold fails the test unless one entry is told just that.
func wantTold(t *testing.T, what string, told []Told, want Answer) {
	t.Helper()
	if len(told) != 1 || told[0].Answer != want {
		t.Errorf("%s: %v, want %v", what, told, want)
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
	if q.Urgent() || q.Len() != 0 || q.Rest(epoch) >= 0 {
		t.Error("something is left")
	}
}

// TestARoundHasARowOnce, no more than Most rows, and texts of little more than sizeMost.
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

// TestAFailedRoundIsSplit until the row in question stands alone; the others are written.
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
		q, answers := &Queue{}, map[int64]Answer{}
		put(q, c.kinds)
		rounds := 0
		for ; q.Len() > 0; rounds++ {
			round := q.Next(epoch)
			told, look := q.Written(round, taken(round))
			if slices.Contains(ids(round), c.odd) {
				told, look = q.Failed(round, errTable, Refuses, epoch)
			}
			if len(look) > 0 {
				t.Error("somebody is to look at", ids(look))
			}
			for _, one := range told {
				answers[one.ID] = one.Answer
			}
		}
		for i := range int64(len(c.kinds)) {
			want := Answer{Result: Taken}
			if i+1 == c.odd {
				want = c.want
			}
			if answers[i+1] != want {
				t.Errorf("%s, %d: %v, want %v", c.kinds, i+1, answers[i+1], want)
			}
		}
		if rounds > 2*4 {
			t.Errorf("%s: %d rounds", c.kinds, rounds)
		}
	}
}

// taken is the answer to a round in which each row shows what was written.
func taken(round []*waiting) map[int64]Row {
	rows := map[int64]Row{}
	for _, e := range round {
		rows[e.ID] = Row{}
	}
	return rows
}

// TestWhatIsNotMetIsLookedAt, if a session waits for it, and else by those who look closer.
func TestWhatIsNotMetIsLookedAt(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	entries := put(q, "pdcmppdd")
	told, look := q.Written(q.Next(epoch), map[int64]Row{5: {Stays: true}, 6: {}, 7: {Stays: true}, 8: {Empty: true}})
	wantIDs(t, "to be looked at", look, 1, 3)
	got := map[int64]Answer{}
	for _, one := range told {
		got[one.ID] = one.Answer
	}
	for id, want := range map[int64]Answer{
		2: {Result: Passed}, 4: {Result: Passed}, 5: {Result: Refused, Err: ErrKept}, 6: {Result: Taken}, 7: {Result: Passed}, 8: {Result: Taken, Empty: true},
	} {
		if got[id] != want {
			t.Errorf("%c: %v, want %v", entries[id-1].Kind, got[id], want)
		}
	}
	if len(got) != 6 {
		t.Error(got)
	}
}

// TestARefusedPreparationIsTriedWithoutItsTexts, if it has any, and once.
func TestARefusedPreparationIsTriedWithoutItsTexts(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	q.Seen(&Entry{Kind: Prepare, ID: 1, Output: text(10), Notice: text(1)})
	if told, look := q.Failed(q.Next(epoch), errTable, Refuses, epoch); len(told)+len(look) > 0 {
		t.Fatal(told, look)
	}
	round := q.Next(epoch)
	if len(round) != 1 || round[0].size() > 0 {
		t.Fatal("it is not tried bare")
	}
	told, _ := q.Failed(round, errTable, Refuses, epoch)
	wantTold(t, "bare", told, Answer{Result: Refused, Err: errTable})

	q.Seen(&Entry{Kind: Prepare, ID: 1, Output: text(10)})
	told, _ = q.Written(q.Next(epoch), map[int64]Row{1: {Stays: true}})
	if round = q.Next(epoch); len(told) > 0 || len(round) != 1 {
		t.Fatal("what a trigger keeps is not tried bare: ", told)
	}
	told, _ = q.Written(round, taken(round))
	wantTold(t, "taken bare", told, Answer{Result: Taken, Err: ErrKept})
}

// TestLooked: what follows when it is known who is in the way.
func TestLooked(t *testing.T) {
	t.Parallel()
	later := Answer{Result: -1} // it is tried again
	for _, c := range []struct {
		name    string
		kind    Kind
		patient bool
		look    Look
		since   time.Duration // since it first met a lock
		want    Answer
	}{
		{"the row is another now", Prepare, false, Look{}, 0, Answer{Result: Changed}},
		{"another, of a run that must not be repeated", Prepare, true, Look{Own: true}, time.Hour, Answer{Result: Changed}},
		{"its own lock", Prepare, false, Look{Ours: true, Own: true}, 0, Answer{Result: Own}},
		{"its own lock, and it must not be repeated", Prepare, true, Look{Ours: true, Own: true}, 0, Answer{Result: Own}},
		{"before its SQL began it has none", Claim, false, Look{Ours: true, Own: true}, 0, later},
		{"maybe its own", Prepare, false, Look{Ours: true, MayOwn: true}, 0, Answer{Result: Own}},
		{"maybe its own, and it must not be repeated", Prepare, true, Look{Ours: true, MayOwn: true}, ownMost - 1, later},
		{"maybe its own for long", Prepare, true, Look{Ours: true, MayOwn: true}, ownMost, Answer{Result: Own}},
		{"another's lock", Prepare, false, Look{Ours: true}, lockedMost - 1, later},
		{"another's lock for long", Prepare, false, Look{Ours: true}, lockedMost, Answer{Result: Locked}},
		{"another's for long before its SQL began", Claim, false, Look{Ours: true}, lockedMost, Answer{Result: Locked}},
		{"another's for very long, and it must not be repeated", Prepare, true, Look{Ours: true}, time.Hour, later},
	} {
		q, e := &Queue{}, &waiting{Entry: &Entry{Kind: c.kind, Patient: c.patient}, since: epoch}
		now := epoch.Add(c.since)
		told := q.Looked(e, c.look, now)
		if c.want != later {
			wantTold(t, c.name, told, c.want)
			continue
		}
		if len(told) > 0 || q.Len() != 1 || len(q.Next(now)) > 0 || q.Rest(now) <= 0 || q.Rest(now) > lockedPause {
			t.Errorf("%s: told %v, %d left, for %v", c.name, told, q.Len(), q.Rest(now))
		}
	}
}

// TestTriesComeLessOften while somebody else has the row.
func TestTriesComeLessOften(t *testing.T) {
	t.Parallel()
	q, now, tries := &Queue{}, epoch, 0
	q.Seen(&Entry{Kind: Prepare, ID: 1})
	for q.Len() > 0 {
		now = now.Add(q.Rest(now))
		_, look := q.Written(q.Next(now), nil)
		if told := q.Looked(look[0], Look{Ours: true}, now); len(told) > 0 {
			wantTold(t, "in the end", told, Answer{Result: Locked})
		}
		tries++
	}
	if took := now.Sub(epoch); took < lockedMost || took > lockedMost+lockedPause || tries > 120 {
		t.Errorf("%d tries in %v", tries, took)
	}
}

// TestWhatWaitsHoldsUpNothing: others are written meanwhile.
func TestWhatWaitsHoldsUpNothing(t *testing.T) {
	t.Parallel()
	q := &Queue{}
	put(q, "p")
	_, look := q.Failed(q.Next(epoch), errTable, Blocked, epoch)
	wantIDs(t, "to be looked at", look, 1)
	q.Looked(look[0], Look{Ours: true}, epoch)
	q.Seen(&Entry{Kind: Prepare, ID: 2})
	q.Seen(&Entry{Kind: Done, ID: 3})
	if rest := q.Rest(epoch); rest != 0 {
		t.Error("nothing is done for", rest)
	}
	wantIDs(t, "meanwhile", q.Next(epoch), 2, 3)
	wantIDs(t, "later", q.Next(epoch.Add(lockedPause)), 1)
}

// TestALoneSessionWaitsForNoEnds: few of them are written after its row, many with it.
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
