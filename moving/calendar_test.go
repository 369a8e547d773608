package moving

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCalendarsInCron: in many random calendars, the expression runs exactly when all fields match.
func TestCalendarsInCron(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		calendar Calendar
		want     string
	}{
		{Calendar{}, "* * * * *"},
		{Calendar{Minutes: []int{0}, Hours: []int{3}}, "0 3 * * *"},
		{Calendar{Minutes: []int{0, 15, 30, 45}, Hours: []int{8, 9, 10, 11, 12, 20, 21}, Weekdays: []int{1, 2, 3, 4, 5}}, "0,15,30,45 8-12,20,21 * * 1-5"},
		{Calendar{Minutes: []int{5}, Hours: []int{0}, Days: []int{LastDay}}, "5 0 L * *"},
		{Calendar{Minutes: []int{5}, Hours: []int{0}, Days: []int{1, 15, LastDay}, Months: []int{1, 7}}, "5 0 1,15,L 1,7 *"},
		{Calendar{Minutes: []int{5}, Hours: []int{0}, Days: []int{1, 2, 3, 4, 5, 6, 7}, Weekdays: []int{1}}, "5 0 */31,2-7 * 1"},
		{Calendar{Minutes: []int{5}, Hours: []int{0}, Days: []int{1}, Weekdays: []int{1, 2}}, "5 0 */31 * 1,2"},
		{Calendar{Minutes: []int{5}, Hours: []int{0}, Days: []int{8, 9}, Weekdays: []int{0, 3}}, "5 0 8,9 * */7,3"},
	} {
		notes := Notes{}
		got, s, err := c.calendar.Cron("UTC", &notes)
		got = strings.TrimPrefix(got, "CRON_TZ=UTC ")
		if err != nil || got != c.want {
			t.Errorf("%+v: %s (%v), not %s", c.calendar, got, err, c.want)
			continue
		}
		at := time.Date(2030, 1, i+1, 0, 0, 0, 0, time.UTC)
		for range 4 {
			want := at.Add(time.Minute)
			for !c.calendar.fits(want) {
				want = want.Add(time.Minute)
			}
			if at = s.Next(at); !at.Equal(want) {
				t.Fatalf("%s runs at %s, not %s", got, at, want)
			}
		}
	}
	notes := Notes{Job: "j"}
	if cron, _, err := (Calendar{Days: []int{13}, Weekdays: []int{5}}).Cron("UTC", &notes); err == nil {
		t.Error("Friday the 13th became ", cron)
	}
	for zone, want := range map[string]string{"Europe/Berlin": "CRON_TZ=Europe/Berlin * * 13 * *", "<x>+3": "* * 13 * *"} {
		if cron, _, err := (Calendar{Days: []int{13}}).Cron(zone, &notes); err != nil || cron != want {
			t.Error(cron, err)
		}
	}
	if len(notes.All) != 1 || !strings.Contains(notes.All[0], `j: the time zone "<x>+3" is no name`) {
		t.Error(notes.All)
	}
}

// TestTimesOfTwoCalendarsOnce: what Without returns has each time of the first that the second
// lacks, and no other, whatever the calendars.
func TestTimesOfTwoCalendarsOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	some := func(numbers ...int) []int {
		random.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		numbers = numbers[:random.IntN(len(numbers))]
		slices.Sort(numbers)
		return numbers
	}
	calendar := func() Calendar {
		return Calendar{Minutes: some(0, 20, 40), Hours: some(3, 12, 13), Months: some(1, 2, 3), Days: some(1, 7, 28, 30, LastDay), Weekdays: some(0, 1, 6)}
	}
	apart, parts, unclear := 0, 0, 0
	for range 400 {
		a, b := calendar(), calendar()
		rest, meet, ok := a.Without(b)
		for at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2030; at = at.Add(20 * time.Minute) {
			runs := 0
			for _, part := range rest {
				if part.fits(at) {
					runs++
				}
			}
			both := a.fits(at) && b.fits(at)
			if both && !meet || meet && ok && (runs == 1) != (a.fits(at) && !both) || runs > 1 {
				t.Fatalf("%+v without %+v: %+v, %v, %v at %s", a, b, rest, meet, ok, at)
			}
		}
		switch {
		case !meet:
			apart++
		case ok:
			parts += len(rest)
		default:
			unclear++
		}
	}
	if apart == 0 || parts == 0 || unclear == 0 {
		t.Error(apart, parts, unclear)
	}
}

// fits reports whether a job runs at that minute.
func (c Calendar) fits(at time.Time) bool {
	has := func(numbers []int, n int) bool { return len(numbers) == 0 || slices.Contains(numbers, n) }
	day := has(c.Days, at.Day()) || slices.Contains(c.Days, LastDay) && at.AddDate(0, 0, 1).Day() == 1
	return has(c.Minutes, at.Minute()) && has(c.Hours, at.Hour()) && day && has(c.Months, int(at.Month())) && has(c.Weekdays, int(at.Weekday()))
}

func TestKeysAreGivenOnce(t *testing.T) {
	t.Parallel()
	k, seen := Keys{}, map[string]bool{}
	for i := range 5 {
		for _, name := range []string{"a", "", "a (job 1)", string(make([]byte, 2000))} {
			key := k.Key(name, "job "+fmt.Sprint(i%2))
			if seen[key] || len(key) > 1024 || key == "" {
				t.Errorf("%.20q became %.40q", name, key)
			}
			seen[key] = true
		}
	}
}

func TestDollarsQuoteAnything(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a": "$x$a$x$", "$x$": "$x2$$x$$x2$", "a$x": "$x2$a$x$x2$", "$x2$ $x$": "$x3$$x2$ $x$$x3$", "": "$x$$x$"} {
		if got := Dollars("x", text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
