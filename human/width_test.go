package human

import (
	"slices"
	"strings"
	"testing"
)

// TestWidths: texts are cut and broken by the columns that they take, between words if that is
// possible.
func TestWidths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        string
		width, most int
		want        []string
	}{
		{"short", 5, 9, []string{"short"}},
		{"one two three", 8, 9, []string{"one two", "  three"}},
		{"one two three four", 8, 2, []string{"one two", "  three…"}},
		{"dadadadadada", 5, 9, []string{"dadad", "  ada", "  dad", "  a"}},
		{"日本語", 5, 1, []string{"日本…"}},
		{"none", 0, 1, []string{""}},
	} {
		got := Wrap(c.text, c.width, c.most)
		if !slices.Equal(got, c.want) || slices.ContainsFunc(got, func(line string) bool { return Width(line) > c.width }) {
			t.Errorf("%q in %d columns: %q", c.text, c.width, got)
		}
	}
	if got := Wrap(strings.Repeat("word ", 1000), 1, 5); len(got) != 5 {
		t.Errorf("%q", got)
	}
}
