package rows

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// Task is a task in a list. Long texts are cut; error is its first line, input its beginning.
type Task struct {
	ID       int64              `json:"id"`
	Parent   pgtype.Int8        `json:"parent"`
	State    string             `json:"state"`
	Group    string             `json:"group"`
	Key      *string            `json:"key"`
	Plan     pgtype.Timestamptz `json:"plan"`
	Start    pgtype.Timestamptz `json:"start"`
	Stop     pgtype.Timestamptz `json:"stop"`
	Due      pgtype.Timestamptz `json:"due"`
	Created  pgtype.Timestamptz `json:"created"`
	Author   *string            `json:"author"`
	Priority int32              `json:"priority"`
	Attempt  int32              `json:"attempt"`
	PID      pgtype.Int4        `json:"pid"`
	Remote   *string            `json:"remote"`
	SQLState *string            `json:"sqlstate"`
	Error    *string            `json:"error"`
	Input    *string            `json:"input"` // NULL: hidden
	Seconds  *float64           `json:"-"`     // from start to stop, or to now
	Late     bool               `json:"-"`     // not looked at, since the time was over
}

// Orders of a list.
const (
	Newest = "newest" // the highest id first
	Oldest = "oldest"
	Due    = "due" // only tasks that wait or run: next due first
)

// Place is a place in a list: that of its last task.
type Place struct {
	ID  int64
	Due pgtype.Timestamptz // if the list is in the order of Due
}

// Page is a part of a list.
type Page struct {
	Tasks  []Task
	After  *Place // where the next page begins; nil: this is the last
	Late   bool   // the time was over: tasks from After on were not looked at
	Count  int64  // of all pages
	Beyond bool   // there are more
}

// Limits of a list.
const (
	pageLength = 50
	CountMost  = 10_000  // counts end here
	SearchMost = 100_000 // rows in which a text is searched

	// fewWaiting: if so many tasks wait or run, a list of them reads only them.
	fewWaiting = 20_000
)

// Walk is how a list finds its tasks: by the part of SQL page_… of this name, with parameters after
// those of the filter.
type Walk struct {
	Least, Greatest int64 // ids

	name          string
	filter, order []any
}

// Query runs a statement of sql on at most so many tasks of a walk, for as long as limit. Where it
// says :page_newest, they are. words can replace other parts of it.
func (w *Walk) Query(ctx context.Context, b *Table, statement string, words map[string]string, limit time.Duration, most int) (pgx.Rows, error) {
	all := maps.Clone(b.names)
	maps.Copy(all, words)
	all[":page_newest"] = sql.File("part/page_" + w.name)
	return b.conn.Query(ctx, sql.Named(sql.File(statement), all), w.args(limit, most)...)
}

func (w *Walk) args(limit time.Duration, most int) []any {
	return append(append(slices.Clone(w.filter), limit, w.Least, w.Greatest, most), w.order...)
}

// Tasks returns the page of the tasks that pass the filter that begins after a place (nil: the
// first). It looks for as long as limit, and counts for as long as counting; 0: it need not count.
func (b *Table) Tasks(ctx context.Context, f *Filter, order string, after *Place, limit, counting time.Duration) (*Page, error) {
	w, err := b.Walk(ctx, f, order)
	if err != nil {
		return nil, err
	}
	p, err := b.page(ctx, w.After(order, after), f.Hidden, order, limit)
	if err == nil && p.Late && after != nil && p.After.equals(after) {
		return nil, ErrSlow // the next page would be this one
	}
	if err != nil || counting == 0 || after == nil && (p.After == nil || p.Late) {
		return p, err
	}
	p.Count, p.Beyond, err = w.count(ctx, b, nil, counting)
	p.Count = max(p.Count, int64(len(p.Tasks)))
	return p, err
}

// page reads a page of a walk.
func (b *Table) page(ctx context.Context, w Walk, hidden Hidden, order string, limit time.Duration) (*Page, error) {
	list, _ := w.Query(ctx, b, "page/tasks", nil, limit, pageLength+1) // CollectRows returns its error
	found, err := pgx.CollectRows(list, pgx.RowToStructByName[Task])
	if err != nil {
		return nil, slow(encoding(err))
	}
	p := &Page{}
	if i := slices.IndexFunc(found, func(t Task) bool { return t.Late }); i >= 0 {
		p.Late, p.After, found = true, before(&found[i], order), found[:i]
	} else if len(found) > pageLength {
		found = found[:pageLength]
		p.After = &Place{found[pageLength-1].ID, found[pageLength-1].Due}
	}
	for i := range found {
		found[i].show(hidden)
	}
	p.Tasks, p.Count, p.Beyond = found, int64(len(found)), p.Late
	return p, nil
}

// Count counts the tasks that pass a filter for as long as limit, up to CountMost; beyond: there may
// be more. words can replace the part of the statement that filters.
func (b *Table) Count(ctx context.Context, f *Filter, words map[string]string, limit time.Duration) (n int64, beyond bool, err error) {
	w, err := b.Walk(ctx, f, Newest)
	if err != nil {
		return 0, false, err
	}
	return w.count(ctx, b, words, limit)
}

func (w *Walk) count(ctx context.Context, b *Table, words map[string]string, limit time.Duration) (n int64, beyond bool, err error) {
	list, _ := w.Query(ctx, b, "page/count", words, limit, CountMost+1) // ForEachRow returns its error
	_, err = pgx.ForEachRow(list, []any{&n, &beyond}, func() error { return nil })
	if n > CountMost {
		n, beyond = CountMost, true
	}
	return n, beyond, slow(encoding(err))
}

// before returns the place just before a task.
func before(t *Task, order string) *Place {
	id := t.ID + 1
	if order != Newest {
		id = t.ID - 1
	}
	return &Place{id, t.Due}
}

// equals reports whether a list goes on alike after both places.
func (p *Place) equals(other *Place) bool {
	return p.ID == other.ID && (!other.Due.Valid || p.Due.InfinityModifier == other.Due.InfinityModifier && p.Due.Time.Equal(other.Due.Time))
}

// Open reports whether a task waits or runs.
func (t *Task) Open() bool { return open(t.State) }

// Paused reports whether a task is paused.
func (t *Task) Paused() bool { return t.State == "STOP" && !t.Stop.Valid }

func open(state string) bool { return slices.Contains(Waiting, state) }

// show makes the texts fit to be shown.
func (t *Task) show(hidden Hidden) {
	if t.Error != nil {
		first, _, _ := strings.Cut(hidden.Error(*t.Error), "\n")
		t.Error = &first
	}
	if t.Remote != nil {
		shown := remote.Shown(*t.Remote)
		t.Remote = &shown
	}
	if t.Seconds != nil && (math.IsNaN(*t.Seconds) || math.IsInf(*t.Seconds, 0)) {
		t.Seconds = nil
	}
}

// After bounds a walk to what comes after a place.
func (w Walk) After(order string, p *Place) Walk {
	switch {
	case p == nil:
	case order == Due:
		w.order = []any{p.Due, p.ID}
	case order == Oldest && p.ID == math.MaxInt64, order == Newest && p.ID == math.MinInt64:
		w.Least, w.Greatest = 1, 0
	case order == Oldest:
		w.Least = max(w.Least, p.ID+1)
	default:
		w.Greatest = min(w.Greatest, p.ID-1)
	}
	return w
}

// Walk chooses how to find tasks.
func (b *Table) Walk(ctx context.Context, f *Filter, order string) (w Walk, err error) {
	w = Walk{name: order, filter: f.Args()}
	if w.Least, w.Greatest, err = b.IDs(ctx, f); err != nil {
		return w, err
	}
	if order == Due {
		w.order = []any{pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}, int64(math.MinInt64)}
		return w, nil
	}
	if len(f.States) == 0 || f.ID.Valid || slices.ContainsFunc(f.States, func(state string) bool { return !open(state) }) {
		return w, nil
	}
	later := slices.Contains(f.States, "PLAN") // what runs is due
	var n int64
	if err = b.conn.QueryRow(ctx, b.queries.Text("waiting"), later, fewWaiting+1).Scan(&n, nil); err == nil && n <= fewWaiting {
		w.name, w.order = "waiting", []any{order == Oldest, later, fewWaiting + 1}
	}
	return w, slow(err)
}

// IDs returns the least and the greatest id that can pass the filter: a text is searched in the
// newest rows only, and at most one task of a key waits.
func (b *Table) IDs(ctx context.Context, f *Filter) (least, greatest int64, err error) {
	switch least, greatest = math.MinInt64, math.MaxInt64; {
	case f.ID.Valid:
		least, greatest = f.ID.Int64, f.ID.Int64
	case f.Key != "" && slices.Equal(f.States, []string{"PLAN"}):
		err = b.conn.QueryRow(ctx, b.queries.Text("waits_key"), f.Key).Scan(&least)
		if greatest = least; errors.Is(err, pgx.ErrNoRows) {
			return 1, 0, nil
		}
	}
	if f.Text != "" && err == nil {
		var from int64
		err = b.conn.QueryRow(ctx, b.queries.Text("searched"), SearchMost-1).Scan(&from)
		switch {
		case err == nil:
			least = max(least, from)
		case errors.Is(err, pgx.ErrNoRows):
			err = nil
		}
	}
	return least, greatest, slow(encoding(err))
}

// ErrEncoding: the database's encoding lacks a character of the filter.
var ErrEncoding = errors.New("the database cannot store a character of the filter, so no task has it")

// encoding turns the server's error into ErrEncoding.
func encoding(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && (answer.Code == "22P05" || answer.Code == "22021") {
		return ErrEncoding
	}
	return err
}
