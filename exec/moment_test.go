package exec

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 22, 1, 2, 3, 456789000, time.UTC)
	if got, err := moment([]byte("\x00\x03\x03\xd1\xcb\x44\xb1\x15")); err != nil || !got.Equal(want) {
		t.Errorf("%s %v, want %s", got.UTC(), err, want)
	}
	for _, value := range []string{"", "1234567", "123456789", "2026-11-22"} {
		if got, err := moment([]byte(value)); err == nil {
			t.Errorf("%q is taken for %s", value, got)
		}
	}
}
