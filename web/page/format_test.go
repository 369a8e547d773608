package page

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestTexts(t *testing.T) {
	null := (*string)(nil)
	some := "a\x00b"
	for _, c := range []struct {
		v           any
		line, whole string
	}{
		{null, "", ""},
		{nil, "", ""},
		{&some, `a\x00b`, `a\x00b`},
		{int64(9007199254740993), "9007199254740993", "9007199254740993"},
		{"one\ttwo\r\nthree", `one\ttwo\x0d\nthree`, "one\ttwo\\x0d\nthree"},
		{"\u202eevil\u2069 \ufeff\xff", `\u202eevil\u2069 \ufeff\xff`, `\u202eevil\u2069 \ufeff\xff`},
		{"<b>&amp;", "<b>&amp;", "<b>&amp;"}, // html/template escapes it
	} {
		if got := text(c.v); got != c.line {
			t.Errorf("text(%q) is %q, want %q", c.v, got, c.line)
		}
		if got := lines(c.v); got != c.whole {
			t.Errorf("lines(%q) is %q, want %q", c.v, got, c.whole)
		}
	}
}

func TestLongKeepsTheWholeAtHand(t *testing.T) {
	word := strings.Repeat("w", 1<<20)
	for _, c := range []struct{ v, summary, whole string }{
		{"short", "", "short"},
		{"ends with a line\n", "", "ends with a line"},
		{word, word[:longMost] + "…", word},
		{"<script>\nalert(1)", "<script>…", "<script>\nalert(1)"},
		{strings.Repeat("\xff", 200), strings.Repeat(`\xff`, longMost) + "…", strings.Repeat(`\xff`, 200)},
	} {
		got, err := long(c.v)
		if err != nil {
			t.Fatal(err)
		}
		summary := between(string(got), "<summary><bdi>", "</bdi></summary>")
		whole := between(string(got), `<pre dir="auto">`, "</pre>")
		if c.summary == "" {
			whole = between(string(got), "<bdi>", "</bdi>")
		}
		if summary != c.summary || whole != c.whole {
			t.Errorf("long(%.20q) shows %.50q and %.50q", c.v, summary, whole)
		}
		if strings.Contains(string(got), "<script") {
			t.Errorf("long(%.20q) is not escaped", c.v)
		}
	}
}

// between returns the text between two tags.
func between(page, from, to string) string {
	_, rest, _ := strings.Cut(page, from)
	found, _, _ := strings.Cut(rest, to)
	if !strings.Contains(page, from) {
		return ""
	}
	return html.UnescapeString(found)
}

func TestFigures(t *testing.T) {
	half, none := 0.5, (*float64)(nil)
	for _, c := range []struct{ got, want string }{
		{Count(int64(-1234567)), "-1,234,567"},
		{Count(999), "999"},
		{size(999), "999 bytes"},
		{size(int64(1_500_000)), "1.5 MB"},
		{Duration(90), "1 min 30 s"},
		{Duration(&half), "500 ms"},
		{Duration(none), ""},
		{Duration(1e12), "11574074 days"},
		{Word("STOP"), "paused"},
		{Word("STOP", pgtype.Timestamptz{Valid: true}), "cancelled"},
		{Word("GONE"), "expired"},
		{Word("<odd>\n"), `<odd>\n`},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestTemplatesKeepToThePolicy(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)\sstyle=|<style|\son[a-z]+=|<script>|<script [^>]*>[^<]|https?://|javascript:|\|\s*(safe|html)`)
	entries, err := files.ReadDir("html")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := files.ReadFile("html/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if found := forbidden.FindString(string(content)); found != "" {
			t.Errorf("html/%s has %q, which the content security policy forbids", e.Name(), found)
		}
	}
}
