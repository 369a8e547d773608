package page

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Word returns the word that people use for a state; stop is when the task ended.
func Word(of string, stop ...pgtype.Timestamptz) string { return state(of, stop...) }

// Span writes seconds for people; "" for NULL.
func Span(seconds any) string { return duration(seconds) }

// Count writes a whole number for people.
func Count(n int64) string { return count(n) }

// Clock writes a time in a zone for people, one of today without its date, others without seconds; ""
// for NULL.
func Clock(at pgtype.Timestamptz, zone string) string {
	switch {
	case !at.Valid:
		return ""
	case at.InfinityModifier == pgtype.Infinity:
		return "never"
	case at.InfinityModifier == pgtype.NegativeInfinity:
		return "always"
	}
	location := (&Asked{}).location(zone)
	m := momentOf(at.Time.In(location))
	if clock, today := strings.CutPrefix(m.Clock, time.Now().In(location).Format("2006-01-02 ")); today {
		return clock + " " + m.Zone
	}
	return at.Time.In(location).Format("2006-01-02 15:04 MST")
}
