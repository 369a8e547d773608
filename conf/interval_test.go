package conf

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
	"pgtaskd/work/schedule"
)

// parse reads a duration of any length.
func parse(of string) (time.Duration, error) { return duration(0)(value{kind: text, text: of}) }

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"25 s":           25 * time.Second,
		"1 hour":         time.Hour,
		"1 Min":          time.Minute,
		"90":             90 * time.Second,
		"0.5":            500 * time.Millisecond,
		"1.5 h":          90 * time.Minute,
		"10ms":           10 * time.Millisecond,
		"1 day 2 hours":  26 * time.Hour,
		"2 weeks":        14 * day,
		"1 d 01:30":      day + 90*time.Minute,
		"01:30:00":       90 * time.Minute,
		"100:00:00.25":   100*time.Hour + 250*time.Millisecond,
		"P1D":            day,
		"PT90S":          90 * time.Second,
		"P1W2DT3H4M5.5S": 9*day + 3*time.Hour + 4*time.Minute + 5500*time.Millisecond,
		"1 microsecond":  time.Microsecond,
		"106000 d":       106000 * day,
		"30 s 1 min":     90 * time.Second,
		"0.0000010000 s": time.Microsecond,
	} {
		if got, err := parse(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"":                 schedule.ErrNoInterval,
		" ":                schedule.ErrNoInterval,
		"-1 s":             schedule.ErrNoInterval,
		"1 s ago":          schedule.ErrNoInterval,
		"1 h 30":           schedule.ErrNoInterval,
		"1 min 00:00:01":   schedule.ErrNoInterval,
		"00:60":            schedule.ErrNoInterval,
		"P":                schedule.ErrNoInterval,
		"P1DT":             schedule.ErrNoInterval,
		"PT1M2H":           schedule.ErrNoInterval,
		"1 fortnight":      schedule.ErrNoInterval,
		"1 mon":            errElastic,
		"2 years 1 s":      errElastic,
		"P1M":              errElastic,
		"1 s 1 sec":        schedule.ErrUnitTwice,
		"1.0 s 1 ms":       schedule.ErrUnitTwice,
		"0.1 us":           schedule.ErrTooFine,
		"0.0000001 h":      schedule.ErrTooFine,
		"107000 days":      errTooLong,
		"106000 d 25000 h": errTooLong,
		"P1.5D":            schedule.ErrNoInterval,
		"99999999999 us":   errTooLong,
	} {
		if got, err := parse(text); !errors.Is(err, want) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

// TestDurationAgrees: PostgreSQL reads an accepted duration as pgtaskd does.
func TestDurationAgrees(t *testing.T) {
	t.Parallel()
	conn := servertest.Connect(t, servertest.Database(t))
	for _, style := range []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"} {
		if _, err := conn.Exec(t.Context(), "SET IntervalStyle = "+style); err != nil {
			t.Fatal(err)
		}
		accepted := 0
		for range 1500 {
			text := randomInterval()
			got, err := parse(text)
			if err != nil {
				continue
			}
			accepted++
			want, err := serverInterval(t, conn, text)
			if err != nil || got != want && (major.IntervalRange.Of(conn) || (got-want).Abs() > time.Microsecond) {
				t.Fatalf("%q: got %v; PostgreSQL says %v, %v", text, got, want, err)
			}
		}
		if accepted < 300 {
			t.Errorf("only %d of the intervals were accepted: the test shows little", accepted)
		}
	}
}

// serverInterval reads an interval on the server; the error is the server's.
func serverInterval(t *testing.T, conn *pgx.Conn, text string) (time.Duration, error) {
	t.Helper()
	var micros int64
	err := conn.QueryRow(t.Context(), "SELECT (extract(epoch FROM $1::text::interval) * 1000000)::int8", text).Scan(&micros)
	var answer *pgconn.PgError
	if err != nil && !errors.As(err, &answer) {
		t.Fatal(err)
	}
	return time.Duration(micros) * time.Microsecond, err
}

// randomInterval returns a text that is nearly an interval.
func randomInterval() string {
	pick := func(from ...string) string { return from[rand.N(len(from))] }
	amount := func() string {
		whole := fmt.Sprint(rand.N(int64(1) << (1 + rand.N(34))))
		if rand.N(3) > 0 {
			return whole
		}
		return fmt.Sprintf("%s.%0*d", whole, 1+rand.N(7), rand.N(1000))
	}
	var b strings.Builder
	switch rand.N(5) {
	case 0:
		b.WriteString("P")
		for _, unit := range "WDTHMS" {
			if unit == 'T' {
				b.WriteString(pick("T", "T", ""))
			} else if rand.N(2) == 0 {
				b.WriteString(amount() + string(unit))
			}
		}
	case 1:
		b.WriteString(amount())
	case 2:
		fmt.Fprintf(&b, "%s%d:%02d%s", pick("", "", "1 day ", "2 w 3 d ", "1 h "), rand.N(200), rand.N(62), pick("", ":05", ":59.5", ":61"))
	default:
		names := strings.Fields("us ms s m h d w usec msec sec min hr days week Hours MILLISECONDS seconds ago mon y")
		for range 1 + rand.N(4) {
			b.WriteString(amount() + pick("", " ", "  ", "\t") + pick(names...) + pick(" ", " ", " ", "", "\t"))
		}
	}
	return b.String()
}
