package ask

import "testing"

// TestWords: spans, moments, intervals and remotes as people write them.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, got, want string }{
		{"no time", span(0), "0 s"},
		{"milliseconds", span(0.0126), "13 ms"},
		{"nearly a second", span(0.9996), "1 s"},
		{"seconds", span(1.25), "1.2 s"},
		{"a whole number of seconds", span(12), "12 s"},
		{"nearly a minute", span(59.97), "1 min"},
		{"minutes", span(61), "1 min 1 s"},
		{"hours", span(3*3600 + 25), "3 h"},
		{"hours and minutes", span(3*3600 + 125), "3 h 2 min"},
		{"days", span(400 * 86400), "400 days"},
		{"a clock that went back", span(-3), "0 s"},
		{"brief moment", brief("2026-11-25T14:25:41.727+00:00"), "2026-11-25 14:25:41+00"},
		{"brief moment west of Greenwich", brief("2026-11-25T14:25:41.727-03:30"), "2026-11-25 14:25:41-03:30"},
		{"brief infinity", brief("infinity"), "infinity"},
		{"interval of an hour", interval("01:00:00"), "1 h"},
		{"interval", interval("1 day 01:30:00.5"), "1 day 1 h 30 min 0.5 s"},
		{"negative interval", interval("-00:00:05"), "-5 s"},
		{"months", interval("1 mon"), "1 mon"},
		{"empty interval", interval("00:00:00"), "0"},
		{"first line", first("\n  \na b\nc", 10), "a b"},
		{"long line", first("äöü", 2), "äö…"},
		{"values", first("1\t2\n3\t4", 9), "1  2"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, not %q", c.what, c.got, c.want)
		}
	}
}
