package ask

import (
	"strings"
	"testing"
)

// TestTablesFitTheTerminal: columns become narrower or disappear, and then lines are cut. Without a
// width nothing is cut.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	narrow := []narrowed{{1, 0}, {2, 5}}
	for width, want := range map[int]string{
		0:  "A  MIDDLE COLUMN  LAST\n1  middle middle  日本語 and more\n",
		34: "A  MIDDLE COLUMN  LAST\n1  middle middle  日本語 and more\n",
		30: "A  MIDDLE CO…  LAST\n1  middle mi…  日本語 and more\n",
		19: "A  LAST\n1  日本語 and more\n",
		12: "A  LAST\n1  日本語 a…\n",
		7:  "A  LAST\n1  日…\n",
		1:  "…\n…\n",
	} {
		s := people()
		s.Width = width
		rows := [][]string{{"A", "MIDDLE COLUMN", "LAST"}, {"1", "middle middle", "日本語 and more"}}
		if err := s.Table(rows, narrow...); err != nil || s.out.String() != want {
			t.Errorf("%d: %v\n%s", width, err, &s.out)
		}
		s.out.Reset()
		if err := s.Table([][]string{{"name", strings.Repeat("value", 100)}}); err != nil || len(s.out.String()) < 500 {
			t.Errorf("%d: %v\n%s", width, err, &s.out)
		}
	}
}
