package schedule

import (
	"strings"
	"testing"
	"time"
)

// TestCases are checked by hand: an expression, its zone, a time, and the beats after it.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, zone, after, want string }{
		// The hour is skipped: its beats come once, at the first valid moment.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00"},
		{"0,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-29T03:30:00+02:00 2026-03-30T02:00:00+02:00"},
		{"30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00+01:00 2026-03-29T03:30:00+02:00"},
		{"*/20 */2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T04:00:00+02:00 2026-03-29T04:20:00+02:00"},
		// The hour comes twice: its beats come the first time; with * hours, both times.
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-26T02:30:00+01:00"},
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00"},
		{"*/30 0-23 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-25T03:00:00+01:00"},
		// Zones in which midnight is skipped, or comes twice.
		{"0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T01:00:00-03:00 2026-09-07T00:00:00-03:00"},
		{"@daily", "Asia/Beirut", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00+03:00 2026-03-30T00:00:00+03:00"},
		{"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-24T01:00:00+03:00 2026-04-25T00:00:00+03:00"},
		{"30 23 * * *", "America/Santiago", "2026-04-04T12:00:00Z", "2026-04-04T23:30:00-03:00 2026-04-05T23:30:00-04:00"},
		{"0 0 * * sun", "America/Santiago", "2026-09-01T00:00:00Z", "2026-09-06T01:00:00-03:00 2026-09-13T00:00:00-03:00"},
		// The clock changes by half an hour, two hours, a whole day.
		{"0 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-04T02:30:00+11:00 2026-10-05T02:00:00+11:00"},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-05T01:45:00+11:00 2026-04-06T01:45:00+10:30"},
		{"45 * 5 4 *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", "2026-04-05T01:45:00+11:00 2026-04-05T01:45:00+10:30 2026-04-05T02:45:00+10:30"},
		{"30 1 * * *", "Antarctica/Troll", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T01:30:00+02:00"},
		{"0 6 * * *", "Pacific/Apia", "2011-12-29T16:00:00Z", "2011-12-31T00:00:00+14:00 2011-12-31T06:00:00+14:00"},
		// Days: L, leap years, either or both.
		{"0 0 L * *", "UTC", "2027-12-31T00:00:00Z", "2028-01-31T00:00:00Z 2028-02-29T00:00:00Z 2028-03-31T00:00:00Z"},
		{"0 0 15,L feb *", "UTC", "2026-01-01T00:00:00Z", "2026-02-15T00:00:00Z 2026-02-28T00:00:00Z 2027-02-15T00:00:00Z"},
		{"0 0 29 2 *", "UTC", "2096-01-01T00:00:00Z", "2096-02-29T00:00:00Z 2104-02-29T00:00:00Z"},
		{"0 0 29 2 *", "Europe/Berlin", "2396-03-01T00:00:00Z", "2400-02-29T00:00:00+01:00"},
		{"0 0 29 2 */7", "UTC", "2077-01-01T00:00:00Z", "2088-02-29T00:00:00Z 2128-02-29T00:00:00Z"},
		{"0 0 13 * 5", "UTC", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-20T00:00:00Z"},
		{"0 0 */2 * 5", "UTC", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-27T00:00:00Z"},
		{"0 0 13 * */5", "UTC", "2026-02-10T00:00:00Z", "2026-02-13T00:00:00Z 2026-03-13T00:00:00Z"},
		{"0 0 * * 7", "UTC", "2026-02-10T00:00:00Z", "2026-02-15T00:00:00Z"},
		// Seconds, parts of seconds, far years.
		{"*/20 * * * * *", "UTC", "2026-02-10T00:00:19.5Z", "2026-02-10T00:00:20Z 2026-02-10T00:00:40Z"},
		{"0 0 1 1 *", "UTC", "9998-06-01T00:00:00Z", "9999-01-01T00:00:00Z"},
		{"30 12 * * *", "America/New_York", "0001-01-01T00:00:00Z", "0001-01-01T12:30:00-04:56"},
		// Intervals by the calendar and by the clock.
		{"@every 1 day", "Europe/Berlin", "2026-03-28T01:30:00Z", "2026-03-29T03:30:00+02:00"},
		{"@every 24 hours", "Europe/Berlin", "2026-03-28T01:00:00Z", "2026-03-29T03:00:00+02:00"},
		{"@every 1 month", "Europe/Berlin", "2026-01-31T11:00:00Z", "2026-02-28T12:00:00+01:00"},
		{"@every 0.25 s", "UTC", "2026-01-31T11:00:00Z", "2026-01-31T11:00:00.25Z"},
		{"@every 1h30m", "UTC", "2026-01-31T11:00:00.000001Z", "2026-01-31T12:30:00.000001Z"},
	} {
		s, err := Parse(c.expr, zoneOf(t, c.zone))
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		var got []string
		at := instant(t, c.after)
		for range strings.Fields(c.want) {
			at = s.Next(at)
			got = append(got, at.Format(time.RFC3339Nano))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s in %s after %s:\n got %s\nwant %s", c.expr, c.zone, c.after, g, c.want)
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestMissedBeats(t *testing.T) {
	t.Parallel()
	const never = "never"
	for _, c := range []struct {
		expr, after, now, until string
		keep                    int
		first                   string
		skipped                 int
	}{
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-01T04:00:00Z", "", 0, "2026-01-02T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T02:59:00Z", "", 0, "2026-01-05T03:00:00Z", 3},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "", 0, "2026-01-06T03:00:00Z", 4},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "", 1, "2026-01-05T03:00:00Z", 3},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "", 3, "2026-01-03T03:00:00Z", 1},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "", 4, "2026-01-02T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T03:00:00Z", "", 1 << 40, "2026-01-02T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-01T12:00:00Z", "", 5, "2026-01-02T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-09T03:00:00Z", "2026-01-01T12:00:00Z", "", 5, "2026-01-10T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T12:00:00Z", "2026-01-03T03:00:00Z", 0, never, 2},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-05T12:00:00Z", "2026-01-03T03:00:00Z", 1, "2026-01-03T03:00:00Z", 1},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-01T12:00:00Z", "2026-01-02T03:00:00Z", 0, "2026-01-02T03:00:00Z", 0},
		{"0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-01T12:00:00Z", "2026-01-02T02:59:59Z", 0, never, 0},
		{"0 3 * * *", "2026-01-05T03:00:00Z", "2026-01-07T12:00:00Z", "2026-01-02T02:59:59Z", 2, never, 0},
		{"0 0 L * *", "2026-01-31T00:00:00Z", "2026-05-01T00:00:00Z", "", 2, "2026-03-31T00:00:00Z", 1},
		{"0 0 1 * *", "2025-12-31T12:00:00Z", "2026-01-05T00:00:00Z", "", 0, "2026-02-01T00:00:00Z", 1},
		{"0 0 1 1,2 *", "2025-12-31T12:00:00Z", "2026-02-05T00:00:00Z", "", 1, "2026-02-01T00:00:00Z", 1},
		{"@every 1 month", "2026-01-31T00:00:00Z", "2026-05-01T00:00:00Z", "", 1, "2026-04-30T00:00:00Z", 2},
		{"@every 1 month", "2026-01-31T00:00:00Z", "2026-05-01T00:00:00Z", "", 0, "2026-05-31T00:00:00Z", 3},
		{"* * * * * *", "2016-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "", 5, "2025-12-31T23:59:56Z", 315619195},
		{"* * * * * *", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "", 1, "9999-01-01T00:00:00Z", 2147483647},
		{"@every 1 us", "2016-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "", 1, "2026-01-01T00:00:00Z", 2147483647},
		{"@every 1 s", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "", 0, "9999-01-01T00:00:01Z", 2147483647},
		{"@every 1 s", "2016-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "", 0, "2026-01-01T00:00:01Z", 315619200},
	} {
		s, err := Parse(c.expr, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		first, skipped, ok := s.Missed(instant(t, c.after), instant(t, c.now), instant(t, c.until), c.keep)
		got := never
		if ok {
			got = first.Format(time.RFC3339Nano)
		}
		if got != c.first || skipped != c.skipped {
			t.Errorf("%+v: got %s, %d skipped", c, got, skipped)
		}
	}
}

// TestBeatsThatLieFarApart: nth(n) is the same as n times Next.
func TestBeatsThatLieFarApart(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"0 0 1 * *", "0 0 1 1 *", "0 0 1,2 1,7 *", "0 0 L * *", "0 0 29 2 *", "*/20 3 1 1,2 *"} {
		s, err := Parse(expr, zoneOf(t, "Europe/Berlin"))
		if err != nil {
			t.Fatal(err)
		}
		for _, since := range []string{"2025-12-31T12:00:00Z", "2026-01-01T00:00:00Z", "2026-06-30T22:30:00Z"} {
			after := instant(t, since)
			beat := after
			for n := int64(1); n <= 60; n++ {
				beat = s.Next(beat)
				if got := s.beats.nth(after, n); !got.Equal(beat) {
					t.Errorf("%s: beat %d after %s is %v, not %v", expr, n, since, got, beat)
				}
			}
		}
	}
}

// TestTenYearsOfSecondsAreCountedAtOnce: the loop waits for it.
func TestTenYearsOfSecondsAreCountedAtOnce(t *testing.T) {
	for _, expr := range []string{"* * * * * *", "* 0-23 * * *", "@every 1 s", "@every 1 day", "0 0 29 2 */7", "@yearly"} {
		s, err := Parse(expr, zoneOf(t, "Africa/Casablanca"))
		if err != nil {
			t.Fatal(err)
		}
		after := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
		fastest := time.Hour
		for range 5 {
			began := time.Now()
			s.Missed(after, after.AddDate(10, 0, 0), time.Time{}, 3)
			fastest = min(fastest, time.Since(began))
		}
		if fastest > 20*time.Millisecond {
			t.Errorf("%s takes %v", expr, fastest)
		}
	}
}
