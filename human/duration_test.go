package human

import (
	"math"
	"testing"
	"time"
)

func TestDurationsAreWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                               "0 s",
		40 * time.Microsecond:           "0.04 ms",
		1500 * time.Microsecond:         "1.5 ms",
		119600 * time.Microsecond:       "120 ms",
		999700 * time.Microsecond:       "1 s",
		1500 * time.Millisecond:         "1.5 s",
		25 * time.Second:                "25 s",
		59960 * time.Millisecond:        "1 min",
		150 * time.Second:               "2 min 30 s",
		time.Hour:                       "1 h",
		90*time.Minute + 29*time.Second: "1 h 30 min",
		47 * time.Hour:                  "47 h",
		76 * time.Hour:                  "3 days 4 h",
		-2 * time.Second:                "-2 s",
		math.MaxInt64:                   "106751 days 23 h",
		time.Duration(math.MinInt64):    "-106751 days 23 h",
		23*time.Hour + 59*time.Minute + 59*time.Second: "24 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d: %s, not %s", d, got, want)
		}
	}
}
