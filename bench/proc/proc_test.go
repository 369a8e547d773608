package proc

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTimesAfterAnyName(t *testing.T) {
	t.Parallel()
	stat := filepath.Join(t.TempDir(), "stat")
	if err := os.WriteFile(stat, []byte("7 (a) b) S 3 0 0 0 0 0 0 0 0 0 10 20 30 40 20"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := readTimes(stat); err != nil || p != (processTimes{3, 300 * time.Millisecond, 700 * time.Millisecond}) {
		t.Errorf("got %+v, %v", p, err)
	}
}
