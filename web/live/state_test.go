package live

import (
	"strings"
	"testing"
	"time"
)

// TestRowsThatAreAsBeforeAreNotSent: only rows with the same text, and a key that no other row has.
func TestRowsThatAreAsBeforeAreNotSent(t *testing.T) {
	t.Parallel()
	row := func(key, text string) string {
		return `<tr class="late" data-key="` + key + `"><td>` + text + "\n</td></tr>"
	}
	list := func(rows ...string) string {
		return "<main>\n<thead><tr><th></th></tr></thead>" + strings.Join(rows, "\n") + "</main>"
	}
	same := func(key string) string { return `<tr data-same data-key="` + key + `"></tr>` }
	cases := map[string]struct{ before, now, want string }{
		"a new row":   {list(row("1", "a")), list(row("2", "b"), row("1", "a")), list(row("2", "b"), same("1"))},
		"another one": {list(row("1", "a"), row("2", "b")), list(row("1", "A"), row("2", "b")), list(row("1", "A"), same("2"))},
		"two of a key": {
			list(row("1", "a"), row("1", "b")), list(row("1", "a"), row("1", "b"), row("2", "c")), list(row("1", "a"), row("1", "b"), row("2", "c")),
		},
		"other text":  {list(row("1", "a")), list(row("1", "a")) + "x", list(same("1")) + "x"},
		"no rows":     {"<main>a</main>", "<main>b</main>", "<main>b</main>"},
		"hostile key": {list(row("&lt;/tr&gt;&#34;", "a")), list(row("&lt;/tr&gt;&#34;", "a")), list(same("&lt;/tr&gt;&#34;"))},
	}
	for name, c := range cases {
		if got := shortened(c.now, c.before); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	first := (&state{}).next([]string{"heads", list(row("1", "a"))}, nil)
	if first.changes != "" || len(first.events) != 2 {
		t.Errorf("%+v", first)
	}
	second := first.next([]string{"heads", list(row("1", "a"), row("2", strings.Repeat("b", 2*bytesMost)))}, nil)
	if strings.Contains(second.changes, "heads") || !strings.Contains(second.changes, same("1")) || second.rest() < 2*time.Second {
		t.Errorf("%d bytes, %v", len(second.changes), second.rest())
	}
}
