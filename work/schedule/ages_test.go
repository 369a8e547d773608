package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

// inYear returns a time in a year. Year 0 is the year before the first.
func inYear(year int) time.Time { return time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC) }

// TestABeatCostsLittleAfterAges: the author of a row chooses since when beats were missed.
func TestABeatCostsLittleAfterAges(t *testing.T) {
	exprs := []string{"* * * * * *", "30 2 29 2 *", "0 30 2 29 2 */7", "0 0 L * *", "@every 1 us", "@every 1 month 1 us", "@every 1000 years"}
	for _, expr := range exprs {
		for _, zone := range []string{"UTC", "Europe/Berlin", "Africa/Casablanca"} {
			s, err := Parse(expr, zoneOf(t, zone))
			if err != nil {
				t.Fatal(err)
			}
			for _, ages := range [][2]int{{-1999, 2026}, {-1999, 9999}} {
				fastest := time.Hour
				for range 5 {
					began := time.Now()
					s.Next(inYear(ages[0]))
					s.Missed(inYear(ages[0]), inYear(ages[1]), time.Time{}, 1)
					fastest = min(fastest, time.Since(began))
				}
				if fastest > 300*time.Millisecond { // millions of days, one by one, take longer
					t.Fatalf("%s in %s from %d to %d takes %v", expr, zone, ages[0], ages[1], fastest)
				}
			}
		}
	}
}

// TestEveryGoesOnAfterAges: the time between has more microseconds than fit into 64 bits.
func TestEveryGoesOnAfterAges(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{"@every 1 s": "+294276-01-02T03:04:06Z", "@every 1000 years": "+294288-01-02T03:04:05Z"} {
		s, err := Parse(expr, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := s.Missed(inYear(-4712), inYear(294276), time.Time{}, 0); first.Format("+2006-01-02T15:04:05Z07:00") != want {
			t.Errorf("%s: %v, not %s", expr, first, want)
		}
	}
}

// hasDay tells by Go's calendar whether a day is in the set.
func (d days) hasDay(n int64) bool {
	date := time.Unix(n*day, 0).UTC()
	if d.month>>date.Month()&1 == 0 {
		return false
	}
	dom := d.dom>>date.Day()&1 == 1 || d.last && date.AddDate(0, 0, 1).Day() == 1
	dow := d.dow>>date.Weekday()&1 == 1
	if d.either {
		return dom || dow
	}
	return dom && dow
}

// dayByDay counts like cron.walls, day by day.
func (c cron) dayByDay(from, before int64) (n int64) {
	for d := floorDiv(from, day); d*day < before; d++ {
		if !c.days.hasDay(d) {
			continue
		}
		size := c.clock.size()
		if before-d*day < day {
			size = c.clock.before(before - d*day)
		}
		n += max(size-c.clock.before(max(from-d*day, 0)), 0)
	}
	return n
}

// TestWallsAreThoseOfEachDay: over centuries, for random expressions.
func TestWallsAreThoseOfEachDay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	exprs := []string{"0 0 29 2 */7", "30 4 29 2 *", "0 0 L 2 *", "0 0 L * *", "0 12 31 * 5", "* * * * * *"}
	for len(exprs) < 60 {
		exprs = append(exprs, randomExpression(random))
	}
	for _, expr := range exprs {
		s, err := Parse(expr, time.UTC)
		if err != nil {
			continue
		}
		c := s.beats.(cron)
		from := inYear(random.IntN(12000)-5000).Unix() + random.Int64N(366*day)
		before := from + random.Int64N(1300*366*day)
		if got, want := c.walls(from, before), c.dayByDay(from, before); got != want {
			t.Fatalf("%s from %d before %d: %d walls, not %d", expr, from, before, got, want)
		}
	}
}

// TestBeatsOfAgesAreThoseOfTheirParts: the counts of parts add up to the count of millennia.
func TestBeatsOfAgesAreThoseOfTheirParts(t *testing.T) {
	t.Parallel()
	for i, name := range append([]string{"UTC", "Asia/Kolkata"}, changing...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, uint64(i)))
			for compared := 0; compared < 12; {
				expr := randomExpression(random)
				s, err := Parse(expr, zoneOf(t, name))
				if err != nil {
					continue
				}
				compared++
				after := inYear(random.IntN(7000) - 4500).Add(time.Duration(random.Int64N(int64(366 * 24 * time.Hour))))
				last := time.Unix(after.Unix()+random.Int64N(2500*366*day), 0)
				want := int64(0)
				for from := after; from.Before(last); {
					to := time.Unix(min(from.Unix()+1+random.Int64N(300*366*day), last.Unix()), 0)
					want += s.beats.count(from, to)
					from = to
				}
				if got := s.beats.count(after, last); got != want {
					t.Fatalf("%s: %d beats after %v and not after %v, not %d", expr, got, after, last, want)
				}
				if want == 0 {
					continue
				}
				for range 5 {
					n := 1 + random.Int64N(want)
					beat := s.beats.nth(after, n)
					if upTo, without := s.beats.count(after, beat), s.beats.count(after, beat.Add(-time.Second)); upTo != n || without != n-1 {
						t.Fatalf("%s: beat %d after %v is %v, up to which there are %d, and %d without it", expr, n, after, beat, upTo, without)
					}
					if next := s.Next(beat.Add(-time.Second)); !next.Equal(beat) {
						t.Fatalf("%s: a second before %v the next is %v", expr, beat, next)
					}
				}
			}
		})
	}
}
