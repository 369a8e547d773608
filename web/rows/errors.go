package rows

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Failure is a group of errors with the same SQLSTATE and first line.
type Failure struct {
	SQLState *string            `json:"sqlstate" db:"sqlstate"`
	Error    string             `json:"error" db:"-"` // the first line, at most 200 characters
	Count    int64              `json:"count" db:"count"`
	Failed   int64              `json:"failed" db:"failed"` // of these, FAIL
	Gone     int64              `json:"gone" db:"gone"`
	Waits    int64              `json:"waits" db:"waits"` // PLAN: they are tried again
	First    pgtype.Timestamptz `json:"first" db:"first"`
	Last     pgtype.Timestamptz `json:"last" db:"last"`
	Example  int64              `json:"example" db:"example"` // the highest id
	Line     *string            `json:"-" db:"error"`
	Late     bool               `json:"-" db:"late"` // not looked at, since the time was over
}

// Ended returns the states of those that have ended with this error. A line that is not shown
// selects nothing, and browsers change the ends of lines that a form sends.
func (f *Failure) Ended() (states []string) {
	if f.Error == "" || strings.Contains(f.Error, "\r") {
		return nil
	}
	if f.Failed > 0 {
		states = append(states, "FAIL")
	}
	if f.Gone > 0 {
		states = append(states, "GONE")
	}
	return states
}

// Failures returns the errors of the newest rows, most of them first, and how many errors it did
// not look at, since the time was over.
func (b *Table) Failures(ctx context.Context, hidden Hidden, limit time.Duration, most int) (all []Failure, left int64, err error) {
	found, err := list[Failure](ctx, b, "errors", newestErrors, limit, most)
	if err != nil {
		return nil, 0, err
	}
	type group struct{ sqlstate, line string }
	at := map[group]int{}
	all = []Failure{}
	for _, f := range found {
		if f.Late {
			left += f.Count
			continue
		}
		f.Error = hidden.Error(*f.Line)
		same := group{line: f.Error}
		if f.SQLState != nil {
			same.sqlstate = *f.SQLState
		}
		// Errors that differ only in what is masked are one.
		i, known := at[same]
		if !known {
			at[same] = len(all)
			all = append(all, f)
			continue
		}
		all[i].add(&f)
	}
	slices.SortStableFunc(all, func(a, b Failure) int { return cmp.Compare(b.Count, a.Count) })
	return all, left, nil
}

const newestErrors = 100_000

func (f *Failure) add(more *Failure) {
	f.Count, f.Failed, f.Gone, f.Waits = f.Count+more.Count, f.Failed+more.Failed, f.Gone+more.Gone, f.Waits+more.Waits
	f.Example = max(f.Example, more.Example)
	if isBefore(more.First, f.First) {
		f.First = more.First
	}
	if isBefore(f.Last, more.Last) {
		f.Last = more.Last
	}
}

// isBefore compares two times; NULL is none, and infinity does not occur.
func isBefore(a, b pgtype.Timestamptz) bool { return a.Valid && (!b.Valid || a.Time.Before(b.Time)) }
