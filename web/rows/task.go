package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
	"pgtaskd/remote"
)

const (
	// ValueMost is how much of a value a page shows, in bytes.
	ValueMost = 64 << 10
	// storedMost is the longest value that is not text and is read at all, in bytes as stored.
	// 20 runs with the longest errors fit.
	storedMost = 2 << 20
	// AroundMost is how many tasks of each kind around a task are shown.
	AroundMost = 20
)

// Whole is a task with all columns that somebody may see.
type Whole struct {
	ID     int64
	Why    *string   // nil: the function is not there
	Fields []Field   // in the order of the table
	Runs   []Earlier // earlier runs, oldest first
	Around []Around
	Unread []string // what could not be read
}

// Field is a value of a task's row.
type Field struct {
	Name  string
	Text  *string // as the server writes it, up to ValueMost; nil: NULL, or not read
	Bytes int64   // length of the whole; of what is not text, as stored. 0: short anyway
	Cut   bool    // Text is not the whole
	Hid   bool    // not shown to this user

	kind uint32 // OID of its type
}

// Earlier is an earlier run of a task.
type Earlier struct {
	Start pgtype.Timestamptz
	Stop  pgtype.Timestamptz
	PID   string
	State string
	Error string
	Cause string
}

// Around is a task that has to do with another one.
type Around struct {
	Kind    string             `db:"kind"` // parent, next, after: runs after it; waits: for it
	ID      int64              `db:"id"`
	State   *string            `db:"state"` // nil: it is gone
	Key     *string            `db:"key"`
	Group   *string            `db:"group"`
	Plan    pgtype.Timestamptz `db:"plan"`
	Start   pgtype.Timestamptz `db:"start"`
	Stop    pgtype.Timestamptz `db:"stop"`
	Repeats bool               `db:"repeats"` // the task is its repetition
}

// Task reads a task with what is around it; nil if there is no such row.
func (b *Table) Task(ctx context.Context, id int64, hidden Hidden) (*Whole, error) {
	t := &Whole{ID: id}
	if err := b.fields(ctx, t, hidden); err != nil || t.Fields == nil {
		return nil, err
	}
	err := b.Apart(ctx, func() (err error) {
		t.Around, err = list[Around](ctx, b, "task_around", id, AroundMost+1)
		return err
	})
	if err != nil {
		t.Unread = append(t.Unread, "What is around the task cannot be read: "+err.Error())
	}
	if !b.Has("why") {
		return t, nil
	}
	why := ""
	err = b.Apart(ctx, func() (err error) { why, err = b.Why(ctx, id); return err })
	if err != nil {
		t.Unread = append(t.Unread, "Why it waits cannot be read: "+slow(err).Error())
		return t, nil
	}
	why = human.Masked(why)
	t.Why = &why
	return t, nil
}

// Why says why a task waits; "": it does not, or the function that knows is not there.
func (b *Table) Why(ctx context.Context, id int64) (why string, err error) {
	if b.Has("why") {
		err = b.conn.QueryRow(ctx, b.queries.Text("task_why"), id).Scan(&why)
	}
	return why, err
}

// Apart does something that may fail without the rest of the transaction.
func (b *Table) Apart(ctx context.Context, do func() error) error {
	return pgx.BeginFunc(ctx, b.tx, func(pgx.Tx) error { return do() })
}

// column is a column of the table.
type column struct {
	Name  string `db:"name"`
	Kind  uint32 `db:"kind"`
	Texts bool   `db:"texts"`
	Wide  bool   `db:"wide"`
}

// hides reports whether a column is not read. on_fail becomes the input of a task.
func (h Hidden) hides(column string) bool {
	return h.Data && column == "data" || h.Input && (column == "input" || column == "on_fail") || h.Output && column == "output"
}

// fields reads the row. Values come as text: only the output functions of their types convert them.
// A long value costs no more than the part that is read: the server knows the length of a text
// without reading it, and reads its beginning alone.
func (b *Table) fields(ctx context.Context, t *Whole, hidden Hidden) error {
	columns, err := list[column](ctx, b, "task_columns", b.Name.Schema, b.Name.Name)
	if err != nil {
		return err
	}
	values, lengths := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		name := "t." + pgx.Identifier{c.Name}.Sanitize()
		switch {
		case hidden.hides(c.Name):
			values[i], lengths[i] = "NULL", "NULL"
		case c.Texts:
			values[i], lengths[i] = "left("+name+", $2)", "octet_length("+name+")"
		case c.Wide:
			values[i] = "CASE WHEN pg_column_size(" + name + ") <= $3 THEN format('%s', " + name + ") END"
			lengths[i] = "pg_column_size(" + name + ")"
		default:
			values[i], lengths[i] = name, "NULL"
		}
	}
	statement := b.Statement("task", map[string]string{":columns": strings.Join(values, ", ") + ", ARRAY[" + strings.Join(lengths, ", ") + "]::int8[]"})
	rows, err := b.conn.Query(ctx, statement, pgx.QueryResultFormats{pgx.TextFormatCode}, t.ID, ValueMost, storedMost)
	if err != nil {
		return slow(err)
	}
	defer rows.Close()
	if rows.Next() {
		raw, bytes := rows.RawValues(), []*int64{}
		if err := b.conn.TypeMap().Scan(pgtype.Int8ArrayOID, pgx.TextFormatCode, raw[len(columns)], &bytes); err != nil {
			return err
		}
		for i, c := range columns {
			t.add(c, raw[i], bytes[i], hidden)
		}
	}
	return slow(rows.Err())
}

// add adds a value as somebody may see it.
func (t *Whole) add(c column, raw []byte, bytes *int64, hidden Hidden) {
	f := Field{Name: c.Name, Hid: hidden.hides(c.Name), kind: c.Kind}
	if bytes != nil {
		f.Bytes = *bytes
	}
	if raw == nil {
		f.Cut = bytes != nil
		t.Fields = append(t.Fields, f)
		return
	}
	text := string(raw)
	switch c.Name {
	case "remote":
		text = remote.Shown(text)
	case "error":
		text = hidden.Error(text)
	case "notice":
		text = human.Masked(text)
	case "runs":
		t.Runs, text = runs(text, hidden)
	}
	f.Cut = c.Texts && f.Bytes > int64(len(raw))
	if len(text) > ValueMost && c.Name != "runs" {
		text, f.Cut = strings.ToValidUTF8(text[:ValueMost], ""), true
	}
	f.Text = &text
	t.Fields = append(t.Fields, f)
}

// runs reads the earlier runs of a task, and returns them as JSON again, as somebody may see them.
// Entries that pgtaskd has not written are no runs.
func runs(text string, hidden Hidden) ([]Earlier, string) {
	var all []map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&all) != nil {
		return nil, "null"
	}
	found := make([]Earlier, len(all))
	for i, run := range all {
		said := func(name string) string {
			if run[name] == nil {
				return ""
			}
			return fmt.Sprint(run[name])
		}
		if run["error"] != nil {
			run["error"] = hidden.Error(said("error"))
		}
		found[i] = Earlier{moment(said("start")), moment(said("stop")), said("pid"), said("state"), said("error"), said("cause")}
	}
	shown, _ := json.Marshal(all) // what was decoded can be encoded
	return found, string(shown)
}

// moment reads a time as JSON has it.
func moment(text string) pgtype.Timestamptz {
	at, err := time.Parse(time.RFC3339Nano, text)
	return pgtype.Timestamptz{Time: at, Valid: err == nil}
}

// Field returns a field of the row, or an empty one.
func (t *Whole) Field(name string) Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return Field{}
}

// Time returns a field that is a time.
func (t *Whole) Time(name string) pgtype.Timestamptz { return t.Field(name).Time() }

// Time returns a value that is a time; of another type it is none.
func (f Field) Time() (at pgtype.Timestamptz) {
	if f.Text != nil && f.kind == pgtype.TimestamptzOID {
		_ = at.Scan(*f.Text) // what Go cannot hold is shown as text
	}
	return at
}

// Shown is the value for people.
func (f Field) Shown() string {
	switch {
	case f.Text == nil:
		return ""
	case *f.Text == "":
		return "''"
	case f.kind == pgtype.BoolOID:
		return strconv.FormatBool(*f.Text == "t")
	}
	return *f.Text
}

// Zone is the zone of the task's own cron; "": it has none.
func (t *Whole) Zone() string {
	zone, _ := cutZone(t.Text("cron"))
	return zone
}

// Text returns a field as text; "" for NULL.
func (t *Whole) Text(name string) string {
	if f := t.Field(name); f.Text != nil {
		return *f.Text
	}
	return ""
}
