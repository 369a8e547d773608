package demo

import (
	"fmt"
	"strings"
	"testing"
)

// TestScreen: the head stays, the newest lines fit, and the number of the others is told.
func TestScreen(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	height := 8
	s := NewScreen(&out, func() (int, int) { return 10, height })
	line := func(text string) (drawn string) {
		out.Reset()
		fmt.Fprintln(s, text)
		return strings.TrimPrefix(out.String(), "\x1b[H\x1b[J")
	}
	if got := line("the page"); got != "the page\n" {
		t.Errorf("before it is pinned: %q", got)
	}
	s.pin()
	for _, c := range []struct{ text, want string }{
		{"1\n2", "the page\n1\n2\n"},
		{"3 has two rows", "the page\n1\n2\n3 has two rows\n"},
		{"4", "the page\n1\n2\n3 has two rows\n4\n"},
		{"5", "the page\n… and 1 more lines before these\n2\n3 has two rows\n4\n5\n"},
		{"6", "the page\n… and 2 more lines before these\n3 has two rows\n4\n5\n6\n"},
		{"7", "the page\n… and 3 more lines before these\n4\n5\n6\n7\n"},
		{"8" + strings.Repeat("\n8", keptLines-1), "the page\n… and 502 more lines before these\n8\n8\n8\n8\n8\n"},
	} {
		if got := line(c.text); got != c.want {
			t.Errorf("%.10q: %q, want %q", c.text, got, c.want)
		}
	}
	if height = 6; line("9") != "9\n" {
		t.Errorf("too little room: %q", out.String())
	}
}
