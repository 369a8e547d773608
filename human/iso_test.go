package human

import "testing"

func TestMomentsAreISO(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-25 14:25:41.5+00":  "2026-11-25T14:25:41.5+00:00",
		"2026-11-25 14:25:41-03:30": "2026-11-25T14:25:41-03:30",
		"infinity":                  "infinity",
		"0044-03-15 12:00:00+00 BC": "0044-03-15 12:00:00+00 BC",
	} {
		if got := ISO(text); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
