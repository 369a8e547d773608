package text

import "testing"

func TestASCII(t *testing.T) {
	t.Parallel()
	if got := ASCII("aä€…Ж\uFFFD"); got != "a?????" {
		t.Errorf("got %q", got)
	}
}
