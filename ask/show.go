package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work"
)

// Show shows all columns of a task, and why it waits.
func Show(ctx context.Context, s *Screen, targets []work.Target, id int64) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	return one(ctx, t, "show", reads, func(b *table) error {
		var columns []column
		var why string
		err := b.look(ctx, func() (err error) {
			if columns, err = b.columns(ctx, id); err == nil {
				why, err = b.reason(ctx, id)
			}
			return err
		})
		if err != nil {
			return err
		}
		if s.Objects != nil {
			return s.Object(object(b.target.Name(), why, columns))
		}
		return s.task(taskName(id, b), why, columns)
	})
}

// column is one of a task's, as the server writes it. User's own columns are among them.
type column struct {
	name string
	kind uint32 // its type's number
	text *string
}

// columns reads a task. The values come as text, so that nothing converts them but their types' own
// functions.
func (b *table) columns(ctx context.Context, id int64) ([]column, error) {
	rows, err := b.conn.Query(ctx, b.queries.Text("show"), pgx.QueryResultFormats{pgx.TextFormatCode}, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []column
	for rows.Next() {
		values := rows.RawValues()
		for i, field := range rows.FieldDescriptions() {
			c := column{name: field.Name, kind: field.DataTypeOID}
			if values[i] != nil {
				text := string(values[i])
				if c.name == "remote" {
					text = unsecret(text)
				}
				c.text = &text
			}
			columns = append(columns, c)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if columns == nil {
		return nil, fmt.Errorf("there is no %s: it may have ended well and been deleted", taskName(id, b))
	}
	return columns, nil
}

// reason says why a task waits, where the table has a function for it.
func (b *table) reason(ctx context.Context, id int64) (why string, err error) {
	if b.why {
		err = b.conn.QueryRow(ctx, b.queries.Text("why"), id).Scan(&why)
	}
	return why, err
}

// member is a key of an object, whose keys stay in the order of the columns.
type member struct {
	key   string
	value any
}

type members []member

func (all members) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// object is a task as JSON.
func object(target, why string, columns []column) members {
	all := members{{"target", target}}
	if why != "" {
		all = append(all, member{"why", why})
	}
	for _, c := range columns {
		all = append(all, member{c.name, c.value()})
	}
	return all
}

// value is a column's value in JSON: numbers, booleans and JSON are not text.
func (c column) value() any {
	if c.text == nil {
		return nil
	}
	switch c.kind {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return json.Number(*c.text)
	case pgtype.BoolOID:
		return *c.text == "t"
	case pgtype.JSONOID, pgtype.JSONBOID:
		return json.RawMessage(*c.text)
	case pgtype.TimestamptzOID:
		return iso(*c.text)
	case pgtype.Int8ArrayOID:
		return json.RawMessage("[" + strings.Trim(*c.text, "{}") + "]")
	}
	return *c.text
}

// long are columns that stand below the others, with all their lines. So does every text that has
// several.
var long = []string{"input", "data", "output", "error", "notice", "on_fail", "runs"}

// task writes a task for people, without columns that are NULL.
func (s *Screen) task(name, why string, columns []column) error {
	rows := [][]string{}
	if why != "" {
		rows = append(rows, []string{"why", why})
	}
	var below []column
	for _, c := range columns {
		switch {
		case c.text == nil:
		case slices.Contains(long, c.name), strings.Contains(*c.text, "\n"):
			below = append(below, c)
		default:
			rows = append(rows, []string{c.name, c.readable()})
		}
	}
	if err := s.Line("%s", name); err != nil {
		return err
	}
	for i := range rows {
		rows[i][0] = "  " + rows[i][0]
	}
	if err := s.Table(rows); err != nil {
		return err
	}
	for _, c := range below {
		if err := s.Line("%s", c.name); err != nil {
			return err
		}
		for _, line := range c.lines() {
			if err := s.Line("    %s", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// readable is a short value for people.
func (c column) readable() string {
	switch {
	case c.kind == pgtype.BoolOID && *c.text == "t":
		return "true"
	case c.kind == pgtype.BoolOID:
		return "false"
	case c.kind == pgtype.IntervalOID:
		return interval(*c.text)
	case *c.text == "":
		return "''"
	case strings.TrimSpace(*c.text) == "":
		return strconv.Quote(*c.text)
	}
	return *c.text
}

// lines are those of a long value; an earlier run is one line.
func (c column) lines() []string {
	if c.name == "runs" {
		var runs []map[string]any
		if json.Unmarshal([]byte(*c.text), &runs) == nil {
			return earlier(runs)
		}
	}
	lines := strings.Split(strings.TrimSuffix(*c.text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// earlier are a task's earlier runs, a line each.
func earlier(runs []map[string]any) []string {
	var lines []string
	for _, run := range runs {
		var parts []string
		for _, key := range []string{"start", "stop", "pid", "state", "cause", "error"} {
			if value, ok := run[key]; ok && value != nil {
				text := fmt.Sprint(value)
				if n, ok := value.(float64); ok {
					text = strconv.FormatFloat(n, 'f', -1, 64)
				}
				parts = append(parts, key+" "+first(text, 200))
			}
		}
		lines = append(lines, strings.Join(parts, ", "))
	}
	return lines
}

// interval is one as people write it: 1 day 01:30:00 is 1 day 1 h 30 min.
func interval(text string) string {
	days, clock := "", text
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		days, clock = text[:i], text[i+1:]
	}
	parts := strings.Split(clock, ":")
	if len(parts) != 3 {
		return text
	}
	words := days
	for i, unit := range []string{"h", "min", "s"} {
		number := strings.TrimPrefix(parts[i], "-")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return text
		}
		if n != 0 {
			minus := ""
			if strings.HasPrefix(clock, "-") {
				minus = "-"
			}
			words += " " + minus + strconv.FormatFloat(n, 'f', -1, 64) + " " + unit
		}
	}
	if words == "" {
		return "0"
	}
	return strings.TrimSpace(words)
}
