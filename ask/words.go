package ask

import (
	"fmt"
	"strings"
	"time"

	"pgtaskd/remote"
)

// span is how people write so many seconds: the two largest units, or parts of a second.
func span(seconds float64) string {
	if seconds < 0 {
		seconds = 0
	}
	switch {
	case seconds < 0.9995:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	case seconds < 59.95:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", seconds), ".0") + " s"
	}
	left := int64(seconds + 0.5)
	var words []string
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}} {
		if n := left / unit.seconds; n > 0 {
			words = append(words, fmt.Sprint(n, " ", unit.name))
			left -= n * unit.seconds
		} else if len(words) > 0 {
			break
		}
		if len(words) == 2 {
			break
		}
	}
	return strings.Join(words, " ")
}

// iso is a moment as the server writes it, as JSON has it. Infinity stays.
func iso(moment string) string {
	date, clock, found := strings.Cut(moment, " ")
	if !found || strings.Contains(clock, " ") { // infinity, or before Christ
		return moment
	}
	if sign := strings.LastIndexAny(clock, "+-"); sign > 0 && len(clock)-sign == 3 {
		clock += ":00"
	}
	return date + "T" + clock
}

// brief is a moment of JSON for people: without parts of a second, its zone as the server writes it.
func brief(moment string) string {
	date, clock, found := strings.Cut(moment, "T")
	if !found {
		return moment
	}
	clock = strings.TrimSuffix(clock, ":00")
	if dot := strings.IndexByte(clock, '.'); dot >= 0 {
		zone := strings.IndexAny(clock, "+-")
		clock = clock[:dot] + clock[max(zone, dot):]
	}
	return date + " " + clock
}

// first is the first line of a text that has something in it, cut after so many characters.
func first(text string, longest int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if runes := []rune(line); len(runes) > longest {
			return string(runes[:longest]) + "…"
		}
		return line
	}
	return ""
}

// unsecret is the remote of a task without its passwords. A name of the configuration's is shown as it is.
func unsecret(text string) string {
	if !strings.Contains(text, "=") && !strings.Contains(text, "://") {
		return text
	}
	settings, err := remote.Parse(text)
	if err != nil {
		return "(a connection string that cannot be read is not shown: it could hold a password)"
	}
	return settings.Public()
}

// rough is a duration in words.
func rough(d time.Duration) string { return span(d.Seconds()) }
