package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The oracle finds beats without the code under test. It takes each step of a clock, and compares
// the text of the expression with the clock.

// matches tells whether a list has a value; 0 and 7 are both Sunday.
func matches(list string, value, least, most int, names string) bool {
	for i, name := range strings.Fields(names) {
		list = strings.ReplaceAll(strings.ToLower(list), name, strconv.Itoa(i+least))
	}
	for item := range strings.SplitSeq(list, ",") {
		span, step, stepped := strings.Cut(item, "/")
		n := 1
		if stepped {
			n, _ = strconv.Atoi(step)
		}
		low, high := least, most
		if span != "*" {
			from, to, ranged := strings.Cut(span, "-")
			low, _ = strconv.Atoi(from)
			if ranged {
				high, _ = strconv.Atoi(to)
			} else if !stepped || low > high {
				high = low
			}
		}
		if names != "" && least == 0 && high == 0 && low > 0 {
			high = 7
		}
		for v := low; v <= high; v += n {
			if v == value || names != "" && least == 0 && v == 7 && value == 0 {
				return true
			}
		}
	}
	return false
}

type oracle struct {
	fields         []string // six
	zone           *time.Location
	follow         bool
	second, minute [60]bool
	hour           [24]bool
	known          map[int64]bool // by day: whether it matches
}

func newOracle(expr string, zone *time.Location) *oracle {
	fields := strings.Fields(expr)
	if len(fields) == 5 {
		fields = append([]string{"0"}, fields...)
	}
	o := &oracle{fields: fields, zone: zone, follow: strings.HasPrefix(fields[2], "*"), known: map[int64]bool{}}
	for i := range 60 {
		o.second[i] = matches(fields[0], i, 0, 59, "")
		o.minute[i] = matches(fields[1], i, 0, 59, "")
		o.hour[i%24] = matches(fields[2], i%24, 0, 23, "")
	}
	return o
}

// wall tells whether a wall matches, in seconds since 1970. It must not be negative.
func (o *oracle) wall(w int64) bool {
	return o.second[w%60] && o.minute[w/60%60] && o.hour[w/3600%24] && o.day(w/86400)
}

func (o *oracle) day(n int64) bool {
	known, ok := o.known[n]
	if !ok {
		known = o.date(time.Unix(n*86400, 0).UTC())
		o.known[n] = known
	}
	return known
}

func (o *oracle) date(t time.Time) bool {
	if !matches(o.fields[4], int(t.Month()), 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec") {
		return false
	}
	dom := false
	for item := range strings.SplitSeq(o.fields[3], ",") {
		if item == "L" {
			dom = dom || t.AddDate(0, 0, 1).Day() == 1
		} else {
			dom = dom || matches(item, t.Day(), 1, 31, "")
		}
	}
	dow := matches(o.fields[5], int(t.Weekday()), 0, 6, "sun mon tue wed thu fri sat")
	if strings.HasPrefix(o.fields[3], "*") || strings.HasPrefix(o.fields[5], "*") {
		return dom && dow
	}
	return dom || dow
}

// beats returns the beats after one time and not after another. It goes through each step (a minute
// or a second) of that time and of the four hours before it, in which no clock changes twice.
func (o *oracle) beats(after, last time.Time) []time.Time {
	step := int64(60)
	if o.fields[0] != "0" {
		step = 1
	}
	shows := func(t int64) int64 {
		_, offset := time.Unix(t, 0).In(o.zone).Zone()
		return t + int64(offset)
	}
	t := (after.Unix() - 4*3600) / 60 * 60
	latest := shows(t - step) // the latest wall so far
	for ; t < after.Unix()-60; t += 60 {
		latest = max(latest, shows(t+60-step))
	}
	var found []time.Time
	for ; t <= last.Unix(); t += step {
		now := shows(t)
		beat := false
		if o.follow {
			beat = o.wall(now)
		} else {
			for w := latest + step; w <= now && !beat; w += step {
				beat = o.wall(w)
			}
		}
		latest = max(latest, now)
		if moment := time.Unix(t, 0); beat && moment.After(after) {
			found = append(found, moment)
		}
	}
	return found
}

// randomExpression returns an expression, mostly a correct one, with few or many beats.
func randomExpression(r *rand.Rand) string {
	fields := []string{
		randomField(r, 0, 59, ""), randomField(r, 0, 23, ""), randomField(r, 1, 31, ""),
		randomField(r, 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"), randomField(r, 0, 7, "sun mon tue wed thu fri sat"),
	}
	if r.IntN(3) == 0 {
		fields[2] = "*"
	}
	if r.IntN(2) == 0 {
		fields[3] = "*"
	}
	if r.IntN(2) == 0 {
		fields[4] = "*"
	}
	if r.IntN(8) == 0 {
		fields[2] = "L"
	}
	if r.IntN(5) == 0 {
		fields = append([]string{randomField(r, 0, 59, "")}, fields...)
	}
	return strings.Join(fields, " ")
}

func randomField(r *rand.Rand, least, most int, names string) string {
	value := func() string {
		n := least + r.IntN(most-least+1)
		if name := strings.Fields(names); r.IntN(3) == 0 && n-least < len(name) {
			return name[n-least]
		}
		return strconv.Itoa(n)
	}
	var items []string
	for range 1 + r.IntN(8)/6 + r.IntN(8)/7 {
		switch r.IntN(8) {
		case 0, 1:
			items = append(items, "*")
		case 2:
			items = append(items, fmt.Sprintf("*/%d", 1+r.IntN(most)))
		case 3:
			items = append(items, value()+"-"+value())
		case 4:
			items = append(items, fmt.Sprintf("%s-%d/%d", value(), most, 1+r.IntN(most)))
		case 5:
			items = append(items, fmt.Sprintf("%s/%d", value(), 1+r.IntN(most)))
		case 6:
			if least == 1 && most == 31 {
				items = append(items, "L")
				continue
			}
			fallthrough
		default:
			items = append(items, value())
		}
	}
	return strings.Join(slices.Compact(items), ",")
}
