package page

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
)

// filterNames are the parameters that select tasks, in the order in which they are shown.
var filterNames = []string{"state", "group", "key", "id", "since", "until", "q"}

// Filter reads the parameters that select tasks. Times without an offset are in the zone of the
// request; job is the zone of the target. Blank parameters select all, as a form sends them.
func (a *Asked) Filter(job string) (f rows.Filter, err error) {
	q := a.Query
	for _, name := range filterNames {
		for _, value := range q[name] {
			if !utf8.ValidString(value) || strings.Contains(value, "\x00") {
				return f, wrong("%s must be text in UTF-8 without the character NUL", name)
			}
		}
	}
	f = rows.Filter{Group: q.Get("group"), Key: q.Get("key"), Text: q.Get("q"), Hidden: a.Hidden}
	if states := strings.Join(q["state"], ","); strings.Trim(states, ",") != "" {
		for state := range strings.SplitSeq(strings.ToUpper(states), ",") {
			if !slices.Contains(rows.States, state) {
				return f, wrong("state must be among %s, not %q", strings.Join(rows.States, ", "), state)
			}
			f.States = append(f.States, state)
		}
	}
	if q.Get("id") != "" {
		f.ID.Valid = true
		if f.ID.Int64, err = a.id("id"); err != nil {
			return f, err
		}
	}
	if f.Since, err = when(q, "since", job); err != nil {
		return f, err
	}
	f.Until, err = when(q, "until", job)
	return f, err
}

// spacedOffset is the offset of a time whose plus sign a URL has turned into a space.
var spacedOffset = regexp.MustCompile(`(:\d\d(?:\.\d+)?) (\d\d(?::?\d\d)?)$`)

// when reads a moment: RFC 3339, or a date or a date and a time as people write them.
func when(q url.Values, name, job string) (at pgtype.Timestamptz, err error) {
	zone, err := time.LoadLocation(job)
	if err != nil {
		zone = time.UTC
	}
	text := strings.TrimSpace(q.Get(name))
	switch strings.ToLower(text) {
	case "":
		return at, nil
	case "infinity":
		return pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}, nil
	case "-infinity":
		return pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.NegativeInfinity}, nil
	}
	text = spacedOffset.ReplaceAllString(text, "$1+$2")
	for _, clock := range []string{"", "15:04", "15:04:05"} {
		for _, between := range []string{"T", "t", " "} {
			for _, offset := range []string{"", "Z07:00", "Z0700", "Z07", " Z07:00"} {
				layout := "2006-01-02"
				if clock != "" {
					layout += between + clock + offset
				}
				if t, err := time.ParseInLocation(layout, text, zone); err == nil {
					return pgtype.Timestamptz{Time: t, Valid: true}, nil
				}
			}
		}
	}
	return at, wrong(`%s must be a time such as 2030-01-31T08:00:00Z or "2030-01-31 08:00", or infinity, not %q`, name, q.Get(name))
}
