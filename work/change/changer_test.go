package change

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

var (
	errRow    = error(&pgconn.PgError{Severity: "ERROR", Code: "23514", Message: "the table says no"})
	errLocked = error(&pgconn.PgError{Severity: "ERROR", Code: "55P03", Routine: "ProcessInterrupts"})
	errNoIDs  = fault.As(fault.NoIDs, errRow)
)

// table stands for a task table. Some rows refuse each change, with these errors.
type table struct {
	refuses    map[int64]error
	changed    []int64 // in order
	statements int
}

func (b *table) change(ids []int64) error {
	b.statements++
	for _, id := range ids {
		if err := b.refuses[id]; err != nil {
			return err
		}
	}
	b.changed = append(b.changed, ids...)
	return nil
}

// rows returns the ids 1 to n.
func rows(n int64) (ids []int64) {
	for id := range n {
		ids = append(ids, id+1)
	}
	return ids
}

// TestBisect: exactly the rows that refuse the change are left out. All rows are asked in order, in
// few statements.
func TestBisect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows   int64
		refuse []int64
		most   int // statements
	}{
		"no row refuses":         {100, nil, 1},
		"a row alone":            {1, []int64{1}, 1},
		"the first and the last": {500, []int64{1, 500}, 50},
		"neighbours":             {100, []int64{49, 50, 51}, 50},
		"all rows":               {1000, rows(1000), 1100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, refused := &table{refuses: map[int64]error{}}, []int64(nil)
			for _, id := range c.refuse {
				b.refuses[id] = errRow
			}
			if err := Bisect(rows(c.rows), b.change, func(id int64, err error) error {
				if err != errRow {
					t.Error("row ", id, ": ", err)
				}
				refused = append(refused, id)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(rows(c.rows), func(id int64) bool { return slices.Contains(c.refuse, id) })
			if !slices.Equal(b.changed, want) || !slices.Equal(refused, c.refuse) {
				t.Errorf("changed %v, refused %v", b.changed, refused)
			}
			if b.statements > c.most {
				t.Error(b.statements, " statements")
			}
		})
	}
}

// TestBisectEnds: at the first error that is not a refusal, of the change or of the caller. No
// later row is asked.
func TestBisectEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change, refused error
		want            error
	}{
		"the connection is lost":    {io.ErrUnexpectedEOF, nil, io.ErrUnexpectedEOF},
		"the caller cannot go on":   {errRow, io.ErrClosedPipe, io.ErrClosedPipe},
		"the row is simply refused": {errRow, nil, nil},
	} {
		b := &table{refuses: map[int64]error{3: errRow, 6: c.change}}
		err := Bisect(rows(9), b.change, func(id int64, _ error) error {
			if id == 6 {
				return c.refused
			}
			return nil
		})
		want := []int64{1, 2, 4, 5}
		if c.want == nil {
			want = append(want, 7, 8, 9)
		}
		if !errors.Is(err, c.want) || !slices.Equal(b.changed, want) {
			t.Errorf("%s: changed %v, %v", name, b.changed, err)
		}
	}
}

// changer returns a Changer without a connection, and its log. It has a task of ours with the id 1.
func changer() (*Changer, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return New(Config{
		Holds: hold.NewHolds(), Log: target.NewLog(zerolog.New(log), nil), Known: func(id int64) bool { return id == 1 },
	}), log
}

// TestEachHoldsRowsThatRefuse: for a minute, and logs them. A row that is only locked is tried
// again at once. A row whose change lacks an id waits, but is not to blame.
func TestEachHoldsRowsThatRefuse(t *testing.T) {
	t.Parallel()
	c, log := changer()
	b := &table{refuses: map[int64]error{2: errRow, 4: errLocked, 6: errNoIDs}}
	if err := c.Each(rows(7), b.change); err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 3, 5, 7}; !slices.Equal(b.changed, want) {
		t.Error("changed ", b.changed)
	}
	for id := range int64(8) {
		if want := id == 2 || id == 6; c.Holds.Refuses(id) != want {
			t.Errorf("row %d is held: %v", id, !want)
		}
	}
	if text := log.String(); strings.Count(text, "refuses a change") != 1 || !strings.Contains(text, `"id":2,`) {
		t.Error("logged ", text)
	}
}

// TestEachWithWords: a row that refuses only our texts is changed without them. A row that refuses
// both is held, and a locked row waits a moment. Rows that wait are not tried.
func TestEachWithWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := changer()
		b := &table{refuses: map[int64]error{1: errLocked, 5: errRow, 7: errLocked}}
		bare := &table{refuses: map[int64]error{5: errRow}}
		do := func(ids []int64, without bool) error {
			switch {
			case without:
				return bare.change(ids)
			case slices.Contains(ids, 3):
				return errRow
			}
			return b.change(ids)
		}
		c.Holds.Put(8, hold.Missing)
		left, err := c.EachWithWords(t.Context(), rows(9), do)
		if err != nil || len(left) != 0 {
			t.Fatal(left, err)
		}
		if want := []int64{2, 4, 6, 9}; !slices.Equal(b.changed, want) || !slices.Equal(bare.changed, []int64{3}) {
			t.Error("changed ", b.changed, ", without texts ", bare.changed)
		}
		held := map[int64]bool{}
		for id := range int64(10) {
			if c.Holds.Waits(id) {
				held[id] = c.Holds.Refuses(id)
			}
		}
		if want := map[int64]bool{5: true, 7: false, 8: false}; !maps.Equal(held, want) {
			t.Error("held, and whether it refuses: ", held)
		}
	})
}

// TestUnwritten: the error that the row of a task gets whose end was refused.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		state string
		parts []string
	}{
		"a constraint":                  {&pgconn.PgError{Code: "23514", Message: "no", Detail: "why", Hint: "how", Where: "there"}, "23514", []string{unwrittenEnd + "no", "DETAIL:  why", "HINT:  how", "CONTEXT:  there"}},
		"a trigger that keeps the row":  {fault.ErrKept, "55000", []string{unwrittenEnd, "keeps the row"}},
		"a repetition that is left out": {fault.ErrLeftOut, "55000", []string{"repetition", "left out", "DETAIL"}},
	} {
		got := Unwritten(c.err)
		if got == nil || got.SQLState != c.state {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(got.Text, part) {
				t.Errorf("%s: %q lacks %q", name, got.Text, part)
			}
		}
	}
	if got := Unwritten(io.ErrUnexpectedEOF); got != nil {
		t.Error("of no server: ", got)
	}
}
