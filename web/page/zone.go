package page

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// Check reports what no page can answer, whatever it reads.
func (a *Asked) Check() error {
	for name, values := range a.Query {
		for _, value := range values {
			if !utf8.ValidString(value) || strings.Contains(value, "\x00") {
				return Wrong("%s must be text in UTF-8 without the character NUL", name)
			}
		}
	}
	if !a.jobsZone() && load(a.Query.Get("tz")) == nil {
		return Wrong("tz must be job or the name of a time zone, such as Europe/Berlin, not %q", a.Query.Get("tz"))
	}
	return nil
}

// jobsZone reports whether times are shown in the zone of their job.
func (a *Asked) jobsZone() bool {
	name := a.Query.Get("tz")
	return name == "" || name == "job"
}

// location returns the zone of the request; job is the zone of the job or of its target. A zone
// that only PostgreSQL knows is shown as UTC.
func (a *Asked) location(job string) *time.Location {
	name := job
	if !a.jobsZone() {
		name = a.Query.Get("tz")
	}
	if found := load(name); found != nil {
		return found
	}
	return time.UTC
}

// locations has the zones that were loaded, by name: the tz database has some hundred.
var locations sync.Map

// load returns a zone of the tz database, or nil.
func load(name string) *time.Location {
	if found, ok := locations.Load(name); ok {
		return found.(*time.Location)
	}
	found, err := schedule.LoadZone(name)
	if err != nil {
		return nil
	}
	locations.Store(name, found)
	return found
}

// A plus sign in a URL that nobody has escaped arrives as a space.
var lostPlus = regexp.MustCompile(`^(\S+[T ]\d\d:\S+) (\d\d(?::?\d\d)?)$`)

// layouts are the forms of a moment that people and links write.
var layouts = func() (all []string) {
	for _, clock := range []string{"T15:04:05", " 15:04:05", "T15:04", " 15:04"} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07", " Z07:00", " MST"} {
			all = append(all, "2006-01-02"+clock+zone)
		}
	}
	return append(all, "2006-01-02")
}()

// moment reads a moment from the URL. Without an offset it is in the zone of the request; job is
// the zone of the target.
func (a *Asked) moment(job, text string) (pgtype.Timestamptz, error) {
	switch text {
	case "infinity":
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, nil
	case "-infinity":
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, nil
	}
	location := a.location(job)
	for _, layout := range layouts {
		at, err := time.ParseInLocation(layout, lostPlus.ReplaceAllString(text, "$1+$2"), location)
		abbreviated := layout[len(layout)-1] == 'T'
		// Go takes an abbreviation that is not known for one without offset.
		if err == nil && (!abbreviated || at.Location() == location || at.Location() == time.UTC) {
			return pgtype.Timestamptz{Time: at, Valid: true}, nil
		}
	}
	return pgtype.Timestamptz{}, Wrong("a time must be written as 2030-01-31 08:00, with or without an offset such as +01:00, not as %q", text)
}

// moment is what the template of a time shows.
type moment struct{ ISO, Exact, Clock, Zone string }

func momentOf(of pgtype.Timestamptz, zone *time.Location) moment {
	switch of.InfinityModifier {
	case pgtype.Infinity:
		return moment{Exact: "infinity: not planned", Clock: "never"}
	case pgtype.NegativeInfinity:
		return moment{Exact: "-infinity", Clock: "always"}
	}
	const clock = "2006-01-02 15:04:05"
	at := of.Time.In(zone)
	m := moment{
		ISO: at.Format(time.RFC3339Nano), Exact: at.Format(clock + ".999999 -07:00"), Clock: at.Format(clock), Zone: at.Format("MST"),
	}
	if name := zone.String(); name != m.Zone {
		m.Exact += ", " + name
	}
	if year := at.Year(); year <= 0 { // the year before 1 is 1 BC
		m.Clock = fmt.Sprintf("%04d-%s BC", 1-year, at.Format("01-02 15:04:05"))
		m.ISO, m.Exact = "", m.Clock+at.Format(" -07:00")
	}
	return m
}
