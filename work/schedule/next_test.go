package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// changing has zones with all kinds of changes: at midnight, by half an hour, by two hours, for
// Ramadan, on both halves of the globe.
var changing = []string{
	"America/Santiago", "Asia/Beirut", "Africa/Cairo", "Australia/Lord_Howe", "Europe/Berlin", "America/New_York", "Africa/Casablanca", "Antarctica/Troll",
}

// changes returns the moments from 2020 to 2035 at which a zone's clock changes.
func changes(zone *time.Location) []time.Time {
	var found []time.Time
	for t := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC); ; {
		_, end := t.In(zone).ZoneBounds()
		if end.IsZero() || end.Year() > 2035 {
			return found
		}
		found = append(found, end)
		t = end
	}
}

func TestEachChangeOfTheClock(t *testing.T) {
	t.Parallel()
	for _, name := range changing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := zoneOf(t, name)
			all := changes(zone)
			if len(all) < 20 {
				t.Fatalf("only %d changes", len(all))
			}
			for i, change := range all {
				for _, expr := range around(change) {
					agree(t, expr, zone, change.Add(-time.Duration(5+i%7)*time.Hour), change.Add(7*time.Hour))
				}
			}
		})
	}
}

// around returns expressions with beats near a change of the clock.
func around(change time.Time) []string {
	before, after := change.Add(-time.Minute), change
	exprs := []string{"0 0 * * *", "*/15 * * * *", "5,35 */2 * * *", "*/20 0-23 * * *", "59 23,0 * * *"}
	for _, t := range []time.Time{before, after, before.Add(-time.Hour), after.Add(time.Hour)} {
		exprs = append(exprs, fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour()), fmt.Sprintf("%d %d %d %d *", t.Minute(), t.Hour(), t.Day(), t.Month()))
	}
	hour, minute := before.Add(time.Minute).Hour(), 15
	return append(exprs, fmt.Sprintf("%d,30,45 %d-23,0 * * *", minute, hour), fmt.Sprintf("0 %d L * *", hour), fmt.Sprintf("10 %d * * %d", hour, change.Weekday()))
}

// agree compares the beats between two times, by Next, nth and count, with the oracle's.
func agree(t testing.TB, expr string, zone *time.Location, after, last time.Time) {
	t.Helper()
	s, err := Parse(expr, zone)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	want := newOracle(expr, zone).beats(after, last)
	at := after
	for i, beat := range want {
		got := s.Next(at)
		if !got.Equal(beat) {
			t.Fatalf("%s in %s after %v:\n got %v\nwant %v", expr, zone, at, got, beat)
		}
		if nth := s.beats.nth(after, int64(i+1)); !nth.Equal(beat) {
			t.Fatalf("%s in %s: beat %d after %v is %v, not %v", expr, zone, i+1, after, nth, beat)
		}
		at = got
	}
	if got := s.Next(at); !got.After(last) {
		t.Fatalf("%s in %s after %v: %v, which should be after %v", expr, zone, at, got, last)
	}
	if n := s.beats.count(after, last); n != int64(len(want)) {
		t.Fatalf("%s in %s: %d beats after %v and not after %v, not %d", expr, zone, n, after, last, len(want))
	}
}

func TestRandomExpressionsAgree(t *testing.T) {
	t.Parallel()
	for part := range 8 {
		t.Run(changing[part], func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(part)))
			zone := zoneOf(t, changing[part])
			all := changes(zone)
			for compared := 0; compared < 500; {
				expr := randomExpression(random)
				if _, err := Parse(expr, zone); err != nil {
					continue
				}
				compared++
				after := all[random.IntN(len(all))].Add(-time.Duration(random.IntN(20*3600)) * time.Second)
				if random.IntN(4) == 0 {
					after = time.Date(2020, 1, 1, 0, 0, random.IntN(15*365*86400), 0, time.UTC)
				}
				last := after.Add(time.Duration(random.IntN(10)) * time.Hour)
				if newOracle(expr, zone).fields[0] != "0" {
					last = after.Add(5 * time.Minute)
				}
				agree(t, expr, zone, after, last)
				far(t, expr, zone, last)
			}
		})
	}
}

// far compares the first beat after a time with the oracle's, even if it is far away.
func far(t testing.TB, expr string, zone *time.Location, after time.Time) {
	t.Helper()
	s, err := Parse(expr, zone)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Next(after)
	o := newOracle(expr, zone)
	for day := after.Unix()/86400 + 2; day < got.Unix()/86400-1; day++ {
		if o.day(day) && !o.follow {
			t.Fatalf("%s in %s after %v: %v, but %v matches", expr, zone, after, got, time.Unix(day*86400, 0).UTC())
		}
	}
	if beats := o.beats(got.Add(-time.Second), got); len(beats) != 1 || !beats[0].Equal(got) {
		t.Fatalf("%s in %s after %v: %v is no beat", expr, zone, after, got)
	}
}

func FuzzNext(f *testing.F) {
	f.Add("0 0 * * *", 0, int64(1_600_000_000))
	f.Add("*/7 2-3 L,29 feb fri-sun/2", 3, int64(1_700_000_000))
	f.Add("TZ=UTC", 1, int64(0))
	f.Add("@every 1 month 2 days 3 s", 2, int64(1_700_000_000))
	f.Fuzz(func(t *testing.T, expr string, place int, at int64) {
		zone := zoneOf(t, changing[uint(place)%8])
		s, err := Parse(expr, zone)
		if err != nil {
			return
		}
		after := time.Unix(1_577_836_800+int64(uint64(at)%(15*365*86400)), 0)
		next := s.Next(after)
		_, fields := s.beats.(cron)
		if !next.After(after) || fields && next.Sub(after) > 41*366*24*time.Hour {
			t.Fatalf("%q after %v: %v", expr, after, next)
		}
		if n := s.beats.count(after, next); n != 1 {
			t.Fatalf("%q: %d beats up to the next", expr, n)
		}
		if c, ok := s.beats.(cron); ok && c.zone.Location == zone && expr[0] != '@' {
			last := after.Add(6 * time.Hour)
			if newOracle(expr, zone).fields[0] != "0" {
				last = after.Add(5 * time.Minute)
			}
			agree(t, expr, zone, after, last)
		}
	})
}

// TestTheLastDaysOfFarYears: beyond its table of changes, Go's ZoneBounds leaves out a day.
func TestTheLastDaysOfFarYears(t *testing.T) {
	t.Parallel()
	for _, name := range changing {
		zone := zoneOf(t, name)
		for year := 2036; year <= 2400; year += 52 {
			after := time.Date(year, 12, 30, 12, 0, 0, 0, time.UTC)
			for _, expr := range []string{"0 0 * * *", "0 */6 * * *", "30 22-23 31,1 * *"} {
				agree(t, expr, zone, after, after.Add(60*time.Hour))
			}
		}
	}
}
