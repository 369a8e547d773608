//go:build slow

package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestEachMinuteOfSixteenYears compares each minute from 2020 to 2035 in each zone with the oracle.
func TestEachMinuteOfSixteenYears(t *testing.T) {
	t.Parallel()
	exprs := []string{
		"0 0 * * *", "30 2 * * *", "*/15 * * * *", "17 */3 * * *", "30 0-3 * * *", "0 2 L * *", "45 23 * * sun", "0 12 29 2 *", "1-59/29 * 13 * fri",
	}
	for place, name := range changing {
		zone := zoneOf(t, name)
		for year := 2020; year <= 2035; year++ {
			t.Run(fmt.Sprint(name, " ", year), func(t *testing.T) {
				t.Parallel()
				after := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second)
				last := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
				for _, expr := range exprs {
					allAgree(t, expr, zone, after, last)
				}
				allAgree(t, randomMinutes(rand.New(rand.NewPCG(uint64(place), uint64(year)))), zone, after, last)
			})
		}
	}
}

// allAgree compares all beats between two times with the oracle's.
func allAgree(t *testing.T, expr string, zone *time.Location, after, last time.Time) {
	t.Helper()
	s, err := Parse(expr, zone)
	if err != nil {
		t.Fatal(err)
	}
	want := newOracle(expr, zone).beats(after, last)
	at := after
	for _, beat := range want {
		next := s.Next(at)
		if !next.Equal(beat) {
			t.Fatalf("%s in %s after %v:\n got %v\nwant %v", expr, zone, at, next, beat)
		}
		at = next
	}
	if next := s.Next(at); !next.After(last) {
		t.Fatalf("%s in %s after %v: %v, which is no beat", expr, zone, at, next)
	}
	if n := s.beats.count(after, last); n != int64(len(want)) {
		t.Fatalf("%s in %s: %d beats after %v and not after %v, not %d", expr, zone, n, after, last, len(want))
	}
}

// randomMinutes returns a correct expression of five fields.
func randomMinutes(r *rand.Rand) string {
	for {
		expr := randomExpression(r)
		if _, err := Parse(expr, time.UTC); err == nil && newOracle(expr, time.UTC).fields[0] == "0" {
			return expr
		}
	}
}
