package text

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

var asJSON = with(func(f *Format) { f.JSON, f.Quote, f.Delimiter, f.Null, f.Header = true, '$', '|', "none", false })

func TestJSON(t *testing.T) {
	t.Parallel()
	one := rows([]string{"a"}, []any{1})
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
	}{
		{
			"several results",
			[]answer{rows([]string{"a", "b:text"}, []any{1, "x"}, []any{nil, nil}), tag("INSERT 0 5"), one},
			`[{"a": 1, "b": "x"}, {"a": null, "b": null}]` + "\n" + `{"command": "INSERT 0 5"}` + "\n" + `[{"a": 1}]`,
		},
		{"no rows", []answer{rows([]string{"a"}), one}, "[]\n" + `[{"a": 1}]`},
		{"no columns", []answer{rows(nil, []any{}, []any{})}, "[{}, {}]"},
		{"void", []answer{rows([]string{"pg_sleep:void"}, []any{""})}, `[{"pg_sleep": ""}]`},
		{
			"names",
			[]answer{rows([]string{"a\"\\\n\xff", "?column?", "?column?", "", "<é>"}, []any{1, 2, 3, 4, 5})},
			`[{"a\"\\\n?": 1, "?column?": 2, "?column?": 3, "": 4, "<é>": 5}]`,
		},
		{
			"numbers",
			[]answer{rows([]string{"n"}, []any{9223372036854775807}, []any{"-0.10"}, []any{"1e+20"}, []any{"NaN"}, []any{"-Infinity"})},
			`[{"n": 9223372036854775807}, {"n": -0.10}, {"n": 1e+20}, {"n": "NaN"}, {"n": "-Infinity"}]`,
		},
		{"booleans", []answer{rows([]string{"b:bool", "c:bool", "d:bool"}, []any{"t", "f", nil})}, `[{"b": true, "c": false, "d": null}]`},
		{
			"strings",
			[]answer{rows([]string{"s:text"}, []any{"\x01\b\f\r\t\n\"\\/<é\u2028"}, []any{"a\xffb\x00"}, []any{""}, []any{"null"}, []any{"t"})},
			`[{"s": "\u0001\b\f\r\t\n\"\\/<é` + "\u2028" + `"}, {"s": "a?b?"}, {"s": ""}, {"s": "null"}, {"s": "t"}]`,
		},
		{
			"json",
			[]answer{rows([]string{"j:json"}, []any{"{\"a\":\r\n [1, null]}"}, []any{`"t"`}, []any{"null"}, []any{nil}, []any{"1.00"})},
			`[{"j": {"a":   [1, null]}}, {"j": "t"}, {"j": null}, {"j": null}, {"j": 1.00}]`,
		},
		{"what is no JSON", []answer{rows([]string{"n"}, []any{"007"}, []any{""}, []any{`1}, {"x": 2`})}, `[{"n": "007"}, {"n": ""}, {"n": "1}, {\"x\": 2"}]`},
		{"COPY", []answer{copied("1\t\"\n", "2\n"), copied(), one}, `{"copy": "1\t\"\n2\n"}` + "\n" + `{"copy": ""}` + "\n" + `[{"a": 1}]`},
		{"an error after a row", []answer{one, func(o *Output) { o.Rows(nil); o.Row(nil) }}, `[{"a": 1}]` + "\n[{}]"},
		{"the end within a row", []answer{func(o *Output) { o.Rows(nil); o.Row(nil); o.StartRow(0); o.StartValue(0, false); o.Piece([]byte("1")) }}, "[{}]"},
		{"the end within COPY", []answer{func(o *Output) { o.Copy([]byte("1\n")) }}, `{"copy": "1\n"}`},
		{"rows that are not announced", []answer{func(o *Output) { o.Row([][]byte{[]byte("x"), nil}) }, one}, `[{"": "x", "": null}]` + "\n" + `[{"a": 1}]`},
	} {
		o := NewOutput(asJSON, 0)
		for _, answer := range test.answers {
			answer(o)
		}
		if got, ok := o.Text(); !ok || got != test.want || !validLines(got) {
			t.Errorf("%s: got\n%s, %t, want\n%s", test.name, got, ok, test.want)
		}
	}
	if text, ok := NewOutput(asJSON, 0).Text(); ok || text != "" {
		t.Errorf("nothing: got %q", text)
	}
}

// TestJSONLimit: what is kept is JSON, too.
func TestJSONLimit(t *testing.T) {
	t.Parallel()
	const limit, cut = 20, `{"cut": "the output is longer than output_limit = 20"}`
	row := rows([]string{"a:text"}, []any{"123"}, []any{"4"}) // [{"a": "123"}, {"a": "4"}]
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
	}{
		{"just fits", []answer{rows([]string{"a:text"}, []any{"123456789"})}, `[{"a": "123456789"}]`},
		{"no room for the end", []answer{rows([]string{"a:text"}, []any{"1234567890"})}, "[]\n" + cut},
		{"a row less", []answer{row, row}, `[{"a": "123"}]` + "\n" + cut},
		{"escapes", []answer{rows([]string{"a:text"}, []any{"\x01\x01"})}, "[]\n" + cut},
		{"a value that becomes a string", []answer{rows([]string{"a"}, []any{"NaNaNaNaN"}, []any{1})}, `[{"a": "NaNaNaNaN"}]` + "\n" + cut},
		{"its quotes", []answer{rows([]string{"a"}, []any{"NaNaNaNaNa"}, []any{1})}, "[]\n" + cut},
		{"true", []answer{rows([]string{"abcdefghi:bool"}, []any{"t"})}, "[]\n" + cut},
		{"a command", []answer{tag("CREATE TABLE")}, cut},
		{"COPY", []answer{copied("1\n", "2\n", "3\n")}, `{"copy": "1\n2\n"}` + "\n" + cut},
	} {
		o := NewOutput(asJSON, limit)
		for _, answer := range test.answers {
			answer(o)
		}
		if got, _ := o.Text(); got != test.want || o.Over() == strings.HasPrefix(test.name, "just") {
			t.Errorf("%s: got\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

func validLines(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if !json.Valid([]byte(line)) {
			return false
		}
	}
	return utf8.ValidString(text)
}

// FuzzJSON: whatever a server sends in whatever order, each line is JSON.
func FuzzJSON(f *testing.F) {
	f.Add("a", "[1]", []byte("RrcCdpdrRt"), int64(40))
	f.Add("\xff", "\x01\xc3", []byte("dRprC"), int64(0))
	f.Fuzz(func(t *testing.T, name, value string, calls []byte, limit int64) {
		limit &= 1<<20 - 1
		o := NewOutput(asJSON, limit)
		for _, call := range calls {
			switch call {
			case 'R':
				rows([]string{name, "b:text", "c:json"}, []any{value, value, value}, []any{nil, value, nil})(o)
			case 'r':
				o.Row([][]byte{[]byte(value), nil, []byte(value), {}})
			case 'c':
				o.CopyOut(false)
			case 'C':
				o.Complete([]byte(value))
			case 'd':
				o.Copy([]byte(value))
			case 'p', 't':
				if !o.StartRow(len(value)) {
					break
				}
				for i, column := range name {
					o.StartValue(i, column == '0')
					o.Piece([]byte(value))
					o.Piece([]byte(value))
					o.EndValue()
				}
				if call == 't' { // the connection is lost
					calls = nil
					break
				}
				o.EndRow()
			}
			if calls == nil {
				break
			}
			if kept := int64(len(o.text)); limit > 0 && kept > limit {
				t.Errorf("%d bytes are kept, the limit is %d", kept, limit)
			}
		}
		if text, ok := o.Text(); ok && !validLines(text) {
			t.Errorf("not JSON: %q", text)
		}
	})
}
