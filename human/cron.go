package human

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nicknames are expressions with a name.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Cron says in words when a cron expression without zone runs: "every 5 minutes", "at 03:00 on
// weekdays". It knows the common forms; for others it returns "", and the expression must do.
func Cron(cron string) string {
	cron = strings.TrimSpace(cron)
	if period, ok := strings.CutPrefix(cron, "@every "); ok {
		return "every " + strings.TrimSpace(period)
	}
	if fields, ok := nicknames[cron]; ok {
		cron = fields
	}
	f := strings.Fields(strings.ToLower(cron))
	if len(f) == 5 {
		f = slices.Insert(f, 0, "0")
	}
	if len(f) != 6 {
		return ""
	}
	when, daily := clockWords(f[0], f[1], f[2])
	days, ok := dayWords(f[3], f[4], f[5])
	switch {
	case when == "" || !ok:
		return ""
	case days != "" && !(daily && strings.HasPrefix(days, "in ")):
		return when + " " + days
	case daily:
		return strings.TrimSpace(when + " every day " + days)
	}
	return when
}

// clockWords says at which times of a day; daily: these are single times, and do not say so
// themselves that they come each day. "" if it has no words.
func clockWords(second, minute, hour string) (words string, daily bool) {
	if second != "0" {
		if minute == "*" && hour == "*" {
			return steps(second, "second", 60), false
		}
		return "", false
	}
	m, single := number(minute, 59)
	switch {
	case hour == "*" && single && m == 0:
		return "every hour", false
	case hour == "*" && single:
		return "every hour at :" + padded(m), false
	case hour == "*":
		return steps(minute, "minute", 60), false
	case single && strings.HasPrefix(hour, "*/"):
		words = steps(hour, "hour", 24)
		if words != "" && m > 0 {
			words += " at :" + padded(m)
		}
		return words, false
	case single:
		return timesWords(hour, m)
	}
	every := steps(minute, "minute", 60)
	from, to, isRange := strings.Cut(hour, "-")
	if !isRange {
		to = from
	}
	first, ok1 := number(from, 23)
	last, ok2 := number(to, 23)
	if every == "" || !ok1 || !ok2 || first > last {
		return "", false
	}
	return every + " from " + padded(first) + ":00 to " + padded(last) + ":59", false
}

// timesWords says at which single times: a list or range of hours at one minute.
func timesWords(hours string, minute int) (string, bool) {
	if from, to, ok := strings.Cut(hours, "-"); ok {
		first, ok1 := number(from, 23)
		last, ok2 := number(to, 23)
		if !ok1 || !ok2 || first > last {
			return "", false
		}
		return "every hour from " + padded(first) + ":" + padded(minute) + " to " + padded(last) + ":" + padded(minute), false
	}
	var times []string
	for hour := range strings.SplitSeq(hours, ",") {
		h, ok := number(hour, 23)
		if !ok {
			return "", false
		}
		times = append(times, padded(h)+":"+padded(minute))
	}
	slices.Sort(times)
	return "at " + joined(slices.Compact(times)), true
}

// steps says "every 5 minutes" for */5 if that divides the whole: else the last step is shorter.
func steps(field, unit string, whole int) string {
	if field == "*" {
		return "every " + unit
	}
	n, ok := number(strings.TrimPrefix(field, "*/"), whole-1)
	if !ok || !strings.HasPrefix(field, "*/") || n == 0 || whole%n != 0 {
		return ""
	}
	return "every " + plural(int64(n), unit)
}

var (
	dayNames   = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	monthNames = []string{"", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

// dayWords says on which days; "" for all of them. ok is false if it has no words.
func dayWords(dom, month, dow string) (words string, ok bool) {
	switch {
	case dom == "*" && dow == "*":
	case dom == "*":
		if words = weekWords(dow); words == "" {
			return "", false
		}
	case dow != "*":
		return "", false
	case dom == "l":
		words = "on the last day of the month"
	default:
		var days []string
		for day := range strings.SplitSeq(dom, ",") {
			n, ok := number(day, 31)
			if !ok || n == 0 {
				return "", false
			}
			days = append(days, strconv.Itoa(n))
		}
		words = "on day " + joined(days) + " of the month"
	}
	if month == "*" {
		return words, true
	}
	var months []string
	for m := range strings.SplitSeq(month, ",") {
		n := named(m, monthNames)
		if n < 1 {
			return "", false
		}
		months = append(months, title(monthNames[n]))
	}
	words = strings.TrimSuffix(words, " of the month")
	return strings.TrimSpace(words + " in " + joined(months)), true
}

// weekWords says on which days of the week.
func weekWords(dow string) string {
	switch dow {
	case "1-5", "mon-fri":
		return "on weekdays"
	case "0,6", "6,0", "6,7", "6-7", "sat,sun", "sun,sat", "sat-sun":
		return "on Saturdays and Sundays"
	}
	if from, to, ok := strings.Cut(dow, "-"); ok {
		first, last := named(from, dayNames), named(to, dayNames)
		if first < 0 || last < 0 || first >= last {
			return ""
		}
		return "from " + title(dayNames[first]) + " to " + title(dayNames[last])
	}
	var days []string
	for d := range strings.SplitSeq(dow, ",") {
		n := named(d, dayNames)
		if n < 0 {
			return ""
		}
		days = append(days, title(dayNames[n])+"s")
	}
	return "on " + joined(days)
}

// named returns the number of a day or month, given by its number or by three letters; -1: none. 7
// is Sunday.
func named(text string, all []string) int {
	if n, ok := number(text, 12); ok && (n < len(all) || n == len(all) && len(all) == 7) {
		return n % max(len(all), 7)
	}
	return slices.IndexFunc(all, func(name string) bool { return len(text) == 3 && strings.HasPrefix(name, text) })
}

// Every says in words how often something happens: "every 2 days and 3 hours"; "" for never.
func Every(months, days, micros int64) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		unit string
	}{
		{months / 12, "year"},
		{months % 12, "month"},
		{days, "day"},
		{micros / 3_600_000_000, "hour"},
		{micros / 60_000_000 % 60, "minute"},
		{micros / 1_000_000 % 60, "second"},
		{micros / 1000 % 1000, "millisecond"},
	} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.unit))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "every " + joined(parts)
}

func number(text string, most int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= most && text[0] != '+'
}

// plural writes "5 minutes", and "minute" for one.
func plural(n int64, unit string) string {
	if n == 1 {
		return unit
	}
	return fmt.Sprint(n, " ", unit, "s")
}

// joined writes "a, b and c".
func joined(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func padded(n int) string { return fmt.Sprintf("%02d", n) }
