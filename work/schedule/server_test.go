package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestUnitsAgree: each name of a unit means the same in PostgreSQL.
func TestUnitsAgree(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, servertest.Database(t))
	for name, unit := range unitsByName {
		var got Interval
		err := conn.QueryRow(t.Context(), `SELECT extract(year FROM i)::int8 * 12 + extract(month FROM i)::int8, extract(day FROM i)::int8,
			extract(hour FROM i)::int8 * 3600000000 + extract(minute FROM i)::int8 * 60000000 + (extract(second FROM i) * 1000000)::int8 FROM (SELECT $1::text::interval) AS x (i)`, "1 "+name).
			Scan(&got.Months, &got.Days, &got.Micros)
		if err != nil || got != unit {
			t.Errorf("%s is %v, not %v (%v)", name, got, unit, err)
		}
	}
}

// TestEveryAddsUpAsPostgresDoes compares @every with the server's timestamptz + n * interval.
func TestEveryAddsUpAsPostgresDoes(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, servertest.Database(t))
	random := rand.New(rand.NewPCG(5, 6))
	units := strings.Fields("us ms s min h days weeks mons years day,12,h,30,min mon,5,days mon,1,day,2,h,30,min,15,s")
	for _, name := range changing {
		if _, err := conn.Exec(t.Context(), "SELECT set_config('TimeZone', $1, false)", name); err != nil {
			t.Fatal(err)
		}
		zone := zoneOf(t, name)
		all := changes(zone)
		var times []time.Time
		var texts []string
		var counts []int64
		for range 300 {
			times = append(times, all[random.IntN(len(all))].Add(time.Duration(random.Int64N(int64(96*time.Hour))-int64(48*time.Hour)).Truncate(time.Microsecond)))
			texts = append(texts, fmt.Sprintf("%d %s", 1+random.IntN(30), strings.ReplaceAll(units[random.IntN(len(units))], ",", " ")))
			counts = append(counts, 1+random.Int64N(5))
		}
		rows, err := conn.Query(t.Context(), "SELECT a.t + a.n * a.i::interval FROM unnest($1::timestamptz[], $2::text[], $3::int8[]) WITH ORDINALITY AS a (t, i, n, o) ORDER BY a.o", times, texts, counts)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; rows.Next(); i++ {
			var want time.Time
			if err := rows.Scan(&want); err != nil {
				t.Fatal(err)
			}
			s, err := Parse("@every "+texts[i], zone)
			if err != nil {
				t.Fatalf("%s: %v", texts[i], err)
			}
			if got := s.beats.nth(times[i], counts[i]); !got.Equal(want) {
				t.Errorf("%v + %d * %s in %s is %v, not %v", times[i], counts[i], texts[i], name, got, want)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
