package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/remote"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Show shows all columns of a task, and why it waits.
func Show(ctx context.Context, s *Screen, targets []work.Target, id int64) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	return one(ctx, t, "show", rows.Reads, func(b *table) error {
		var all columns
		var why string
		err := b.look(ctx, func() (err error) {
			if all, err = b.columns(ctx, id); err == nil {
				why, err = b.Why(ctx, id)
			}
			return err
		})
		if err != nil {
			return err
		}
		if why != "" {
			all = slices.Insert(all, 0, column{name: "why", text: &why})
		}
		if target := b.Target.Name(); s.Objects != nil {
			return s.Object(slices.Insert(all, 0, column{name: "target", text: &target}))
		}
		return s.task(taskName(id, b), all)
	})
}

// column is a value of a task's row, as the server writes it. Columns of the user count too.
type column struct {
	name string
	kind uint32 // OID of its type
	text *string
}

type columns []column

// columns reads a task. The values come as text: only the output functions of their types convert
// them.
func (b *table) columns(ctx context.Context, id int64) (columns, error) {
	rows, err := b.conn.Query(ctx, b.Statement("task", map[string]string{":columns": "t.*"}), pgx.QueryResultFormats{pgx.TextFormatCode}, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all columns
	for rows.Next() {
		values := rows.RawValues()
		for i, field := range rows.FieldDescriptions() {
			c := column{name: field.Name, kind: field.DataTypeOID}
			if values[i] != nil {
				text := string(values[i])
				if c.name == "remote" {
					text = remote.Shown(text)
				}
				c.text = &text
			}
			all = append(all, c)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, fmt.Errorf("there is no %s: it may have ended well and been deleted", taskName(id, b))
	}
	return all, nil
}

// MarshalJSON makes an object with the keys in the order of the columns.
func (all columns) MarshalJSON() ([]byte, error) {
	pairs := make([]string, len(all))
	for i, c := range all {
		name, _ := json.Marshal(c.name) // a text always encodes
		value, err := json.Marshal(c.value())
		if err != nil {
			return nil, err
		}
		pairs[i] = string(name) + ":" + string(value)
	}
	return []byte("{" + strings.Join(pairs, ",") + "}"), nil
}

// value returns a column's value in JSON.
func (c column) value() any {
	if c.text == nil {
		return nil
	}
	return rows.Value(c.kind, *c.text)
}

// long are the columns that are shown below the others, with all their lines. Other texts with
// several lines are shown there, too.
var long = []string{"input", "data", "output", "error", "notice", "on_fail", "runs"}

// task writes a task for people, without NULLs.
func (s *Screen) task(name string, all columns) error {
	var rows [][]string
	var below columns
	for _, c := range all {
		switch {
		case c.text == nil:
		case slices.Contains(long, c.name), strings.Contains(*c.text, "\n"):
			below = append(below, c)
		default:
			rows = append(rows, []string{"  " + c.name, c.readable()})
		}
	}
	if err := s.Line("%s", name); err != nil {
		return err
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

// readable returns a short value for people.
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

// lines returns the lines of a long value; an earlier run is one line.
func (c column) lines() []string {
	if c.name == "runs" {
		var runs []map[string]any
		if json.Unmarshal([]byte(*c.text), &runs) == nil {
			return earlier(runs)
		}
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(*c.text, "\r\n", "\n"), "\n"), "\n")
}

// earlier returns a line for each earlier run of a task.
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

// interval writes an interval as people do: 1 day 01:30:00 becomes 1 day 1 h 30 min.
func interval(text string) string {
	clock := clocks.FindStringSubmatch(text)
	if clock == nil {
		return text
	}
	words := strings.TrimSuffix(text, clock[0])
	for i, unit := range []string{"h", "min", "s"} {
		if n, _ := strconv.ParseFloat(clock[i+2], 64); n != 0 {
			words += " " + clock[1] + strconv.FormatFloat(n, 'f', -1, 64) + " " + unit
		}
	}
	return cmp.Or(strings.TrimSpace(words), "0")
}

// clocks finds hours, minutes and seconds, with their sign.
var clocks = regexp.MustCompile(` ?(-?)\+?(\d+):(\d\d):([\d.]+)$`)
