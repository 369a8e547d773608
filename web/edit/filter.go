package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
)

// kept is a filter in the table of acts: by the names of the parameters.
type kept struct {
	State    []string            `json:"state,omitempty"`
	Group    string              `json:"group,omitempty"`
	Key      string              `json:"key,omitempty"`
	ID       *int64              `json:"id,omitempty,string"`
	Since    *pgtype.Timestamptz `json:"since,omitempty"`
	Until    *pgtype.Timestamptz `json:"until,omitempty"`
	SQLState string              `json:"sqlstate,omitempty"`
	Error    string              `json:"error,omitempty"`
	Q        string              `json:"q,omitempty"`
}

// Keep writes a filter as JSON. The filters of two requests that mean the same have the same text.
func Keep(f *rows.Filter) ([]byte, error) {
	k := kept{State: f.States, Group: f.Group, Key: f.Key, SQLState: f.SQLState, Error: f.Error, Q: f.Text}
	if f.ID.Valid {
		k.ID = &f.ID.Int64
	}
	for from, to := range map[*pgtype.Timestamptz]**pgtype.Timestamptz{&f.Since: &k.Since, &f.Until: &k.Until} {
		if from.Valid {
			at := *from
			at.Time = at.Time.UTC()
			*to = &at
		}
	}
	return json.Marshal(k)
}

// Kept reads a filter that Keep has written.
func Kept(text []byte) (*rows.Filter, error) {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	f := &rows.Filter{States: k.State, Group: k.Group, Key: k.Key, SQLState: k.SQLState, Error: k.Error, Text: k.Q}
	if k.ID != nil {
		f.ID = pgtype.Int8{Int64: *k.ID, Valid: true}
	}
	if k.Since != nil {
		f.Since = *k.Since
	}
	if k.Until != nil {
		f.Until = *k.Until
	}
	return f, nil
}

// condition writes a filter for people, as a condition of SQL on the row t. A text is searched from
// the id least on.
func condition(f *rows.Filter, least int64) string {
	var all []string
	add := func(given bool, format string, args ...any) {
		if given {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	text := literal(strings.ToLower(f.Text))
	add(f.ID.Valid, "t.id = %d", f.ID.Int64)
	add(len(f.States) > 0, "t.state = ANY (%s)", literal("{"+strings.Join(f.States, ",")+"}"))
	add(f.Group != "", `t."group" = %s`, literal(f.Group))
	add(f.Key != "", "t.key = %s", literal(f.Key))
	add(f.Since.Valid, "t.plan >= %s", literal(written(f.Since)))
	add(f.Until.Valid, "t.plan < %s", literal(written(f.Until)))
	add(f.SQLState == "none", "t.sqlstate IS NULL")
	add(f.SQLState != "" && f.SQLState != "none", "t.sqlstate = %s", literal(f.SQLState))
	add(f.Error != "", `split_part("left"(t.error, 200), E'\n', 1) = %s`, literal(f.Error))
	add(f.Text != "" && least > through+1, "t.id >= %d", least)
	add(f.Text != "", "(strpos(lower(t.input), %s) > 0 OR strpos(lower(t.data), %[1]s) > 0 OR strpos(lower(t.error), %[1]s) > 0)", text)
	if len(all) == 0 {
		return "true"
	}
	return strings.Join(all, "\n    AND ")
}

// written writes a moment as the server reads it.
func written(at pgtype.Timestamptz) string {
	switch at.InfinityModifier {
	case pgtype.Infinity:
		return "infinity"
	case pgtype.NegativeInfinity:
		return "-infinity"
	}
	return at.Time.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// flags writes a filter as flags of pgtaskd act.
func flags(f *rows.Filter) (all []string) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, "--"+name+"="+shell(value))
		}
	}
	if f.ID.Valid {
		add("task", strconv.FormatInt(f.ID.Int64, 10))
	}
	add("state", strings.Join(f.States, ","))
	add("group", f.Group)
	add("key", f.Key)
	if f.Since.Valid {
		add("since", written(f.Since))
	}
	if f.Until.Valid {
		add("until", written(f.Until))
	}
	add("sqlstate", f.SQLState)
	add("error", f.Error)
	add("text", f.Text)
	if len(all) == 0 {
		all = []string{"--all"}
	}
	return slices.Clip(all)
}
