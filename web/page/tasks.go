package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
)

// tasksPage shows the tasks that pass a filter.
var tasksPage = Kind{
	Path: "/tasks", Name: "tasks", Title: "Tasks", Takes: append([]string{"sort", "after"}, filterNames...), Read: readTasks,
}

// How long one page of tasks, and one of a search, may look for them. Counting adds a third, and
// the answer has to come within ListLimit and SearchLimit.
const (
	listTime   = 600 * time.Millisecond
	searchTime = 2000 * time.Millisecond
)

func readTasks(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	order, after, err := a.order()
	if err != nil {
		return nil, err
	}
	f, err := a.Filter("UTC") // says what is wrong before anything is read
	if err != nil {
		return nil, err
	}
	limit, most := listTime, ListLimit
	if f.Text != "" {
		limit, most = searchTime, SearchLimit
	}
	c := &Content{}
	err = s.Read(ctx, t.Target, most, func(ctx context.Context, b *rows.Table) error {
		if f, err = a.Filter(b.Zone); err != nil {
			return err
		}
		counting := limit / 3
		if a.JSON {
			counting = 0
		}
		p, err := b.Tasks(ctx, &f, order, after, limit, counting)
		if errors.Is(err, rows.ErrEncoding) {
			return Wrong("%s", err)
		}
		if err == nil {
			c = a.tasks(p, &f, order)
		}
		return err
	})
	return c, err
}

// order reads the order of a list, and the place after which it begins.
func (a *Asked) order() (order string, after *rows.Place, err error) {
	switch order = a.Query.Get("sort"); order {
	case "":
		order = rows.Newest
	case rows.Newest, rows.Oldest, rows.Due:
	default:
		return "", nil, Wrong("sort must be newest, oldest or due, not %q", order)
	}
	text := a.Query.Get("after")
	if text == "" {
		return order, nil, nil
	}
	after = &rows.Place{}
	id := text
	if order == rows.Due {
		var due string
		due, id, _ = strings.Cut(text, " ")
		after.Due = unplaced(due)
	}
	if after.ID, err = strconv.ParseInt(id, 10, 64); err != nil || order == rows.Due && !after.Due.Valid {
		return "", nil, Wrong("after must be where a page ended, as its link to the next page says, not %q", text)
	}
	return order, after, nil
}

// epoch is that of PostgreSQL: all its times are within 64 bits of microseconds around it.
const epoch = 946_684_800

// placed writes a time into the place where a page ends.
func placed(at pgtype.Timestamptz) string {
	if at.InfinityModifier != pgtype.Finite {
		return at.InfinityModifier.String()
	}
	return strconv.FormatInt((at.Time.Unix()-epoch)*1_000_000+int64(at.Time.Nanosecond()/1000), 10)
}

// unplaced reads what placed has written; it is not Valid if that cannot be.
func unplaced(text string) pgtype.Timestamptz {
	for _, infinity := range []pgtype.InfinityModifier{pgtype.Infinity, pgtype.NegativeInfinity} {
		if text == infinity.String() {
			return pgtype.Timestamptz{InfinityModifier: infinity, Valid: true}
		}
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	return pgtype.Timestamptz{Time: time.Unix(epoch+micros/1_000_000, micros%1_000_000*1000), Valid: err == nil}
}

// tasksView is what the template needs beside the tasks.
type tasksView struct {
	Chips  []chip
	States []string // all
	Orders []Choice
	Kept   []Field // what a new filter keeps
	Fields []Field // select the tasks that match, for a form that acts
	Count  string
	None   bool // no task matches
}

// chip is a part of the filter, with the link that takes it away.
type chip struct{ Name, Value, Without string }

// Chosen reports whether the filter has a state.
func (v *tasksView) Chosen(state string) bool {
	return slices.ContainsFunc(v.Chips, func(c chip) bool { return c.Name == "state" && c.Value == state })
}

// tasks makes the content of a page.
func (a *Asked) tasks(p *rows.Page, f *rows.Filter, order string) *Content {
	listed := *f
	cannot := a.Listed(&listed)
	v := &tasksView{States: rows.States, Count: counted(p), None: p.Count == 0 && !p.Beyond || cannot != nil}
	for _, name := range []string{"target", "tz", "sort", "sqlstate", "error"} {
		if value := a.Query.Get(name); value != "" {
			v.Kept = append(v.Kept, Field{name, value})
		}
	}
	for _, name := range filterNames {
		if name == "state" {
			for i, state := range f.States {
				rest := slices.Delete(slices.Clone(f.States), i, i+1)
				v.Chips = append(v.Chips, chip{name, state, a.With(name, strings.Join(rest, ","))})
			}
		} else if value := a.Query.Get(name); value != "" {
			v.Chips = append(v.Chips, chip{name, value, a.With(name, "")})
			v.Fields = append(v.Fields, Field{name, value})
		}
	}
	if tz := a.Query.Get("tz"); tz != "" {
		v.Fields = append(v.Fields, Field{"tz", tz})
	}
	if len(listed.States) > 0 {
		v.Fields = append(v.Fields, Field{"state", strings.Join(listed.States, ",")})
	}
	for _, name := range []string{rows.Newest, rows.Oldest, rows.Due} {
		v.Orders = append(v.Orders, Choice{name, a.With("sort", name), name == order})
	}
	c := &Content{Rows: p.Tasks, View: v, Notes: a.leftOut(p, f, order)}
	if p.After != nil {
		after := strconv.FormatInt(p.After.ID, 10)
		if order == rows.Due {
			after = placed(p.After.Due) + " " + after
		}
		c.Next = a.With("after", after)
	}
	return c
}

// counted says how many tasks match.
func counted(p *rows.Page) string {
	n := Count(p.Count)
	switch {
	case p.Beyond && p.Count >= rows.CountMost:
		return "over " + n + " tasks"
	case p.Beyond && p.Count > 0:
		return "at least " + n + " tasks"
	case p.Beyond:
		return "no task so far"
	case p.Count == 1:
		return "1 task"
	}
	return n + " tasks"
}

// leftOut says which tasks were not looked at.
func (a *Asked) leftOut(p *rows.Page, f *rows.Filter, order string) (notes []string) {
	if f.Text != "" {
		columns := []string{"error"}
		if !f.Hidden.Data {
			columns = slices.Insert(columns, 0, "data")
		}
		if !f.Hidden.Input {
			columns = slices.Insert(columns, 0, "input")
		}
		notes = append(notes, fmt.Sprintf("Only the newest %s tasks are searched for the text, in %s.", Count(rows.SearchMost), strings.Join(columns, ", ")))
	}
	if p.Late {
		upto := "ids down to " + strconv.FormatInt(p.After.ID, 10)
		switch order {
		case rows.Oldest:
			upto = "ids up to " + strconv.FormatInt(p.After.ID, 10)
		case rows.Due:
			upto = "the earliest due times"
		}
		notes = append(notes, fmt.Sprintf("There was no time to look at all tasks: this page has those with %s. The next page goes on from there.", upto))
	}
	return notes
}
