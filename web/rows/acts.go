package rows

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// Done is an act of the page: what somebody did, and how far it is.
type Done struct {
	ID      int64              `json:"id" db:"id"`
	At      pgtype.Timestamptz `json:"at" db:"at"`
	By      string             `json:"by" db:"by"`
	Do      string             `json:"do" db:"do"`
	Task    *int64             `json:"task" db:"task"`     // NULL: all that match, or a group
	Filter  map[string]any     `json:"filter" db:"filter"` // or the columns of a group
	Data    *string            `json:"data" db:"data"`
	Matched *int64             `json:"matched" db:"matched"` // 10001: over 10,000
	Done    int64              `json:"done" db:"done"`
	Failed  int64              `json:"failed" db:"failed"`
	Error   *string            `json:"error" db:"error"`
	Stopped *string            `json:"stopped" db:"stopped"` // by whom
	Ended   pgtype.Timestamptz `json:"ended" db:"ended"`
}

// State says how far it is, in a word that people use.
func (d *Done) State() string {
	switch {
	case d.Stopped != nil && d.Ended.Valid:
		return "stopped"
	case d.Stopped != nil:
		return "is being stopped"
	case !d.Ended.Valid:
		return "runs"
	case d.Error != nil && d.Done == 0:
		return "failed"
	}
	return "done"
}

// Over reports whether more than 10,000 tasks matched.
func (d *Done) Over() bool { return d.Matched != nil && *d.Matched > CountMost }

// Acts returns the newest acts of the page.
func (b *Table) Acts(ctx context.Context, hidden Hidden, most int) ([]Done, error) {
	found, err := list[Done](ctx, b, "acts", hidden.Data, most)
	for i := range found {
		if e := found[i].Error; e != nil {
			*e = hidden.Error(*e)
		}
		// What somebody looked for may be a text of a hidden column.
		if _, searched := found[i].Filter["q"]; searched && (hidden.Data || hidden.Input) {
			found[i].Filter["q"] = nil
		}
	}
	return found, err
}

// On returns the parameters of the filter, or the columns of the group, by name.
func (d *Done) On() (all [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(d.Filter)) {
		text := ""
		switch value := d.Filter[name].(type) {
		case nil:
		case []any:
			text = strings.TrimSuffix(fmt.Sprintln(value...), "\n") // with spaces between
		default:
			text = fmt.Sprint(value)
		}
		all = append(all, [2]string{name, text})
	}
	return all
}
