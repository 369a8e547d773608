package ask

import (
	"strings"
	"time"

	"pgtaskd/human"
)

// span writes seconds for people.
func span(seconds float64) string {
	const most = 1e9 // 30 years, which a Duration holds
	return human.Duration(time.Duration(min(max(seconds, 0), most) * float64(time.Second)))
}

// brief writes a moment of JSON for people: without fractions of a second, with its zone as the
// server writes it.
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

// first returns the first line that is not blank, cut after so many characters. Tabs, which would be
// shown by a code, become blanks.
func first(text string, longest int) string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "  "), " \r\n")
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
