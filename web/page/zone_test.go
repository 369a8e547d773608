package page

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

func askedIn(zone string) *Asked {
	return &Asked{
		Kind: &errorsPage, Query: url.Values{"tz": {zone}}, Targets: []Target{{Name: "db/s/task", Target: work.Target{TimeZone: "Asia/Kolkata"}}},
	}
}

func TestTimesHaveTheirZone(t *testing.T) {
	at := time.Date(2026, 7, 1, 10, 0, 0, 500_000_000, time.UTC)
	finite := func(at time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: at, Valid: true} }
	for _, c := range []struct {
		at      pgtype.Timestamptz
		tz, row string
		want    string
	}{
		{finite(at), "", "", "2026-07-01 15:30:00 <small>IST"},
		{finite(at), "job", "Europe/Berlin", "2026-07-01 12:00:00 <small>CEST"},
		{finite(at), "UTC", "Europe/Berlin", "2026-07-01 10:00:00 <small>UTC"},
		{finite(at), "America/Sao_Paulo", "", "2026-07-01 07:00:00 <small>-03"},
		{finite(at), "job", "posix/odd", "2026-07-01 10:00:00 <small>UTC"},
		{finite(at), "UTC", "", `datetime="2026-07-01T10:00:00.5Z"`},
		{finite(time.Date(294276, 12, 31, 23, 59, 59, 0, time.UTC)), "UTC", "", ">294276-12-31 23:59:59 <small>UTC"},
		{finite(time.Date(-43, 3, 15, 12, 0, 0, 0, time.UTC)), "UTC", "", `<time title="0044-03-15 12:00:00 BC +00:00">0044-03-15 12:00:00 BC <small>UTC`},
		{pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, "", "", "never"},
		{pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, "", "", "-infinity"},
		{pgtype.Timestamptz{}, "", "", ""},
	} {
		sheet := &Sheet{Asked: askedIn(c.tz)}
		got, err := sheet.TimeIn(c.at, c.row)
		if err != nil || !strings.Contains(html.UnescapeString(string(got)), c.want) {
			t.Errorf("%v in %q of a row in %q is %s, want %s (%v)", c.at.Time, c.tz, c.row, got, c.want, err)
		}
	}
	sheet := &Sheet{Asked: askedIn(""), Heads: []rows.Head{{Target: "db/s/task", Zone: "Europe/Berlin"}}}
	if got, _ := sheet.Time(finite(at)); !strings.Contains(string(got), "CEST") {
		t.Errorf("the target's zone on the server is not used: %s", got)
	}
}

func TestTypedTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-07-01":                "2026-06-30T22:00:00Z",
		"2026-07-01 12:00":          "2026-07-01T10:00:00Z",
		"2026-07-01T12:00":          "2026-07-01T10:00:00Z",
		"2026-07-01 12:00:00.25":    "2026-07-01T10:00:00.25Z",
		"2026-07-01 12:00:00 CEST":  "2026-07-01T10:00:00Z",
		"2026-07-01 12:00:00 UTC":   "2026-07-01T12:00:00Z",
		"2026-07-01T12:00:00Z":      "2026-07-01T12:00:00Z",
		"2026-07-01T12:00:00+01:00": "2026-07-01T11:00:00Z",
		"2026-07-01T12:00:00 01:00": "2026-07-01T11:00:00Z", // a plus sign in a URL
		"2026-07-01 12:00:00-05":    "2026-07-01T17:00:00Z",
		"2026-07-01 12:00:00 PST":   "",
		"2026-02-30":                "",
		"yesterday":                 "",
		"":                          "",
		"2026-07-01 12:00\x00":      "",
	} {
		at, err := askedIn("Europe/Berlin").moment("UTC", text)
		got := ""
		if err == nil {
			got = at.Time.UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q is %q, want %q (%v)", text, got, want, err)
		}
		if err != nil && !isWrong(err) {
			t.Errorf("%q is not answered with 400", text)
		}
	}
	if at, _ := askedIn("").moment("Asia/Tokyo", "2026-07-01 09:00"); !at.Time.Equal(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Error("a typed time is not in the zone of the target")
	}
	if at, err := askedIn("").moment("", "infinity"); err != nil || at.InfinityModifier != pgtype.Infinity {
		t.Error("infinity is not read")
	}
}

func TestUnknownZonesAreRefused(t *testing.T) {
	for zone, ok := range map[string]bool{
		"": true, "job": true, "UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true,
		"Local": false, "Mars": false, "../passwd": false, "europe/berlin": false, "CET\n": false, "mine": false,
	} {
		if err := askedIn(zone).Check(); (err == nil) != ok {
			t.Errorf("tz=%q: %v", zone, err)
		}
	}
}
