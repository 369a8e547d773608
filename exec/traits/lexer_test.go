package traits

import (
	"slices"
	"strings"
	"testing"
)

// words returns the words outside strings, names and comments.
func words(input string) []string {
	found := []string{}
	l := lexer{input: input}
	for {
		switch t := l.token(); t.kind {
		case tokenEnd:
			return found
		case tokenWord:
			found = append(found, t.text)
		}
	}
}

func TestLexerHidesQuotedText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ input, words string }{
		{`a b`, "a b"},
		{`a1$b é _x`, "a1$b é _x"},
		{`1 a 2.5 b $1 c`, "a b c"},
		{`a.b,c;d(e)`, "a b c d e"},

		{`a 'b' c`, "a c"},
		{`a 'b''c' d`, "a d"},
		{`a 'b\' c`, "a c"},
		{`a 'b' 'c' d`, "a d"},
		{`a 'b`, "a"},
		{`a e'b\'c' d`, "a d"},
		{`a E'b\\' c`, "a c"},
		{`a E'b''c' d`, "a d"},
		{`a e'b\`, "a"},
		{"a e'b'\n'c\\' d' f", "a f"},
		{"a e'b' -- x'y\n  'c\\' d' f", "a f"},
		{`a e'b' 'c\' d`, "a d"},
		{`ae'b\' c`, "ae c"},
		{`a b'1' x'f' n'o' u&'\0061' B'' X'' N'' U&'' c`, "a c"},
		{`a n'b\' c`, "a c"},
		{`a u&'b\' c`, "a c"},
		{`a u&b`, "a u b"},

		{`a "b" c`, "a c"},
		{`a "b""c;d" e`, "a e"},
		{`a "b\" c`, "a c"},
		{`a u&"b\" c`, "a c"},
		{`a "b`, "a"},

		{`a $$b$$ c`, "a c"},
		{`a $b$ c $$ d $B$ e $b$ f`, "a f"},
		{`a $é1$ b $é1$ c`, "a c"},
		{`a $1$ b $1$ c`, "a b c"},
		{`a$$b c`, "a$$b c"},
		{`a 1$$b$$ c`, "a c"},
		{`a $$b`, "a"},
		{`a $b`, "a b"},
		{`a $`, "a"},

		{"a --b 'c\nd", "a d"},
		{"a --b\rc", "a c"},
		{"a - -b", "a b"},
		{"a +--b\nc", "a c"},
		{"a --", "a"},
		{"a /* b */ c", "a c"},
		{"a /* /* b */ c */ d", "a d"},
		{"a /*/ b */ c", "a c"},
		{"a /***/ b", "a b"},
		{"a */* b */ c", "a c"},
		{"a /* 'b */ c", "a c"},
		{"a / * b", "a b"},
		{"a /* b /* */ c", "a"},
		{"a /*", "a"},

		{"\xff \xc3( \x80", "\xff \xc3 \x80"},
		{"a \x00 b", "a b"},
		{"", ""},
	} {
		if got := strings.Join(words(test.input), " "); got != test.words {
			t.Errorf("%q: words %q, want %q", test.input, got, test.words)
		}
	}
}

func FuzzLexer(f *testing.F) {
	for _, seed := range []string{`a 'b' "c" $$d$$`, `e'\'`, "/* /* */", "u&\"", "$a$ $a", "--\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		l := lexer{input: input}
		for l.next < len(input) {
			if before := l.next; l.token().kind != tokenEnd && l.next <= before {
				t.Fatalf("no progress at %d", before)
			}
		}
		for _, dressed := range []string{"/* x /* y */ */" + input, "-- x\n" + input, ";" + input, "''" + ";" + input} {
			if got, want := words(dressed), words(input); !slices.Equal(got, want) {
				t.Errorf("%q: words %q, want %q", dressed, got, want)
			}
		}
	})
}
