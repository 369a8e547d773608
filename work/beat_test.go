package work

import (
	"testing"
	"time"
)

// TestBeatsFallTogether: targets that last spoke at different moments of a second speak next at the
// same moment, and none too late.
func TestBeatsFallTogether(t *testing.T) {
	t.Parallel()
	second := time.Since(birth).Truncate(beatGrid)
	for _, within := range []time.Duration{0, time.Millisecond, 400 * time.Millisecond, beatGrid - 1} {
		last := birth.Add(second + within)
		if next := beatAfter(last); next != birth.Add(second+beat) {
			t.Errorf("%v after the second: %v after that", within, next.Sub(last))
		}
	}
	if silent := (&shape{}).silence(); silent > 0 {
		t.Errorf("one that has never spoken is silent for %v", silent)
	}
}
