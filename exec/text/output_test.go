package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	boolOID = 16
	int4OID = 23
	textOID = 25
	voidOID = 2278
	jsonOID = 114
)

// standard is the default format of a task.
var standard = Format{Delimiter: '\t', Null: `\N`, Header: true, String: true}

func with(change func(*Format)) Format {
	f := standard
	change(&f)
	return f
}

// answer has the messages that the server sends for one statement.
type answer func(*Output)

// rows makes an answer with rows. A column is written name:oid; a nil value is NULL.
func rows(columns []string, values ...[]any) answer {
	return func(o *Output) {
		fields := []pgproto3.FieldDescription{}
		for _, column := range columns {
			name, kind, _ := strings.Cut(column, ":")
			oid := map[string]uint32{"": int4OID, "bool": boolOID, "text": textOID, "void": voidOID, "json": jsonOID}[kind]
			fields = append(fields, pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid})
		}
		o.Rows(fields)
		for _, field := range fields { // the message is valid only during the call
			clear(field.Name)
		}
		for _, row := range values {
			message := [][]byte{}
			for _, value := range row {
				if value == nil {
					message = append(message, nil)
				} else {
					message = append(message, fmt.Append([]byte{}, value))
				}
			}
			o.Row(message)
			for _, value := range message {
				clear(value)
			}
		}
		o.Complete([]byte("SELECT 1"))
	}
}

func tag(text string) answer { return func(o *Output) { o.Complete([]byte(text)) } }

func copied(pieces ...string) answer {
	return func(o *Output) {
		o.CopyOut(false)
		for _, piece := range pieces {
			o.Copy([]byte(piece))
		}
		o.Complete(fmt.Appendf(nil, "COPY %d", len(pieces)))
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	var (
		one      = rows([]string{"a"}, []any{1})
		two      = rows([]string{"a", "b"}, []any{1, 2})
		mixed    = rows([]string{"n", "s:text", "t:bool"}, []any{1, `a"b\c`, "t"}, []any{nil, nil, nil})
		quote    = with(func(f *Format) { f.Quote = '"' })
		escape   = with(func(f *Format) { f.Quote, f.Escape = '"', '\\' })
		double   = with(func(f *Format) { f.Quote, f.Escape = '"', '"' })
		all      = with(func(f *Format) { f.Quote, f.String = '"', false })
		bare     = with(func(f *Format) { f.Header = false })
		commas   = with(func(f *Format) { f.Delimiter, f.Null = ',', "" })
		together = with(func(f *Format) { f.Delimiter = 0 })
		unquoted = with(func(f *Format) { f.Escape = '\\' })
	)
	for _, test := range []struct {
		name    string
		format  Format
		answers []answer
		want    string
	}{
		{"SELECT 1 AS a", standard, []answer{one}, "1"},
		{"SELECT 1 AS a, 2 AS b", standard, []answer{two}, "a\tb\n1\t2"},
		{"SELECT 1 AS a;SELECT 2 AS b", standard, []answer{one, rows([]string{"b"}, []any{2})}, "1\n2"},
		{"SELECT 1 AS a, 2 AS b;SELECT 3 AS c", standard, []answer{two, rows([]string{"c"}, []any{3})}, "a\tb\n1\t2\n3"},
		{"SELECT pg_sleep(1)", standard, []answer{rows([]string{"pg_sleep:void"}, []any{""})}, ""},
		{"SELECT '';SELECT 1", standard, []answer{rows([]string{"a:text"}, []any{""}), one}, "\n1"},
		{"SELECT NULL", standard, []answer{rows([]string{"a"}, []any{nil})}, `\N`},
		{"SELECT", standard, []answer{rows(nil, []any{})}, ""},
		{"SELECT FROM two rows", standard, []answer{rows(nil, []any{}, []any{}), one}, "\n\n1"},
		{"no rows, then rows", standard, []answer{rows([]string{"a", "b"}), one}, "1"},

		{"DELETE FROM t", standard, []answer{tag("DELETE 0")}, "DELETE 0"},
		{"INSERT;SELECT 1;CREATE", standard, []answer{tag("INSERT 0 5"), one, tag("CREATE TABLE")}, "INSERT 0 5\n1\nCREATE TABLE"},
		{"INSERT RETURNING no row", standard, []answer{rows([]string{"a"}), tag("DELETE 0")}, "DELETE 0"},

		{"COPY", standard, []answer{copied("1\t2\n", "3\t4\n")}, "1\t2\n3\t4\n"},
		{"COPY;SELECT 1", standard, []answer{copied("1\n"), one}, "1\n1"},
		{"SELECT 1;COPY", standard, []answer{one, copied("1\n", "2\n")}, "1\n1\n2\n"},
		{"COPY;COPY", standard, []answer{copied("1\n"), copied("2\n")}, "1\n2\n"},
		{"COPY in odd pieces", standard, []answer{copied("1", "2", "\n3"), one}, "12\n3\n1"},
		{"COPY of nothing;SELECT 1", standard, []answer{copied(), one}, "1"},
		{"COPY that is not announced", standard, []answer{func(o *Output) { o.Copy([]byte("1\n")) }, tag("COPY 1")}, "1\n"},

		{"header off", bare, []answer{two}, "1\t2"},
		{"delimiter and null", commas, []answer{two, rows([]string{"a", "b"}, []any{nil, 1})}, "a,b\n1,2\na,b\n,1"},
		{"no delimiter", together, []answer{two}, "ab\n12"},
		{"quote strings", quote, []answer{mixed}, "\"n\"\t\"s\"\t\"t\"\n1\t\"a\"b\\c\"\tt\n\\N\t\\N\t\\N"},
		{"quote all", all, []answer{mixed}, "\"n\"\t\"s\"\t\"t\"\n\"1\"\t\"a\"b\\c\"\t\"t\"\n\\N\t\\N\t\\N"},
		{"quote and escape", escape, []answer{mixed}, "\"n\"\t\"s\"\t\"t\"\n1\t\"a\\\"b\\\\c\"\tt\n\\N\t\\N\t\\N"},
		{"quote is escape", double, []answer{mixed}, "\"n\"\t\"s\"\t\"t\"\n1\t\"a\"\"b\\c\"\tt\n\\N\t\\N\t\\N"},
		{"escape without quote", unquoted, []answer{rows([]string{"s:text"}, []any{`a\b`})}, `a\b`},
		{"quote an empty string", quote, []answer{rows([]string{"s:text"}, []any{""})}, `""`},
		{"escape in a name", escape, []answer{rows([]string{`a"`, "b"}, []any{1, 2})}, "\"a\\\"\"\t\"b\"\n1\t2"},

		{"invalid UTF-8", standard, []answer{rows([]string{"s:text"}, []any{"a\xffb\x00c"})}, "a?b?c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := NewOutput(test.format, 0)
			for _, answer := range test.answers {
				answer(o)
			}
			if got, ok := o.Text(); !ok || got != test.want || o.Over() {
				t.Errorf("got %q, %t (over %t), want %q", got, ok, o.Over(), test.want)
			}
		})
	}
}

func TestOutputIsNull(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string][]answer{
		"nothing":              nil,
		"SELECT 1 WHERE false": {rows([]string{"a"})},
		"two columns, no row":  {rows([]string{"a", "b"})},
		"COPY of nothing":      {copied()},
	} {
		o := NewOutput(standard, 10)
		for _, answer := range answers {
			answer(o)
		}
		if text, ok := o.Text(); ok || text != "" || o.Over() {
			t.Errorf("%s: got %q, %t (over %t)", name, text, ok, o.Over())
		}
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	const limit = 10
	line := rows([]string{"a:text"}, []any{"1234"})
	quoted := with(func(f *Format) { f.Quote, f.Escape = '"', '"' })
	for _, test := range []struct {
		name    string
		format  Format
		answers []answer
		kept    string
		over    bool
	}{
		{"just fits", standard, []answer{line, line}, "1234\n1234", false},
		{"one more", standard, []answer{line, line, line}, "1234\n1234\n", true},
		{"too long a line", standard, []answer{rows([]string{"a:text"}, []any{"12345678901"}, []any{"1"})}, "", true},
		{"nothing behind it", standard, []answer{line, rows([]string{"a:text"}, []any{"123456"}), rows([]string{"a"}, []any{1})}, "1234\n", true},
		{"quotes and escapes count", quoted, []answer{rows([]string{"a:text"}, []any{`"""""`})}, "", true},
		{"tag", standard, []answer{tag("CREATE TABLE")}, "", true},
		{"COPY", standard, []answer{copied("1234\n", "123456\n")}, "1234\n", true},
		{"header alone", quoted, []answer{rows([]string{"a", "b"}, []any{12345, 123456})}, "\"a\"\t\"b\"\n", true},
	} {
		o := NewOutput(test.format, limit)
		for _, answer := range test.answers {
			answer(o)
		}
		want := test.kept
		if test.over {
			want += "... cut: the output is longer than output_limit = 10"
		}
		if got, ok := o.Text(); !ok || got != want || o.Over() != test.over {
			t.Errorf("%s: got %q, %t (over %t), want %q", test.name, got, ok, o.Over(), want)
		}
	}
}

func TestOutputEncoding(t *testing.T) {
	t.Parallel()
	o := NewOutput(standard, 0)
	rows([]string{"a\xe4:text", "b"}, []any{"\xe4\xdf", nil})(o)
	copied("\xe4\n")(o)
	rows([]string{"a:text"}, []any{"ä"})(o)
	rows([]string{"a:text"}, []any{"a\xa4\xa2"})(o)
	want := "a?\tb\n??\t\\N\n?\nä\na?"
	if got, _ := o.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The output holds a large value once, and does not hold it if it is over the limit.
func TestOutputHoldsLargeValuesOnce(t *testing.T) { // not parallel: the test counts allocations
	value := bytes.Repeat([]byte("x"), 32<<20)
	o := NewOutput(standard, 64<<20)
	o.Rows([]pgproto3.FieldDescription{{Name: []byte("a"), DataTypeOID: textOID}})
	o.Row([][]byte{value})
	if allocations := testing.AllocsPerRun(1, func() {
		if text, _ := o.Text(); len(text) != len(value) {
			t.Fatal(len(text))
		}
	}); allocations > 0 {
		t.Error("the text is copied to be read")
	}
	small := NewOutput(standard, 1<<20)
	small.Rows([]pgproto3.FieldDescription{{Name: []byte("a"), DataTypeOID: textOID}})
	small.Row([][]byte{value})
	if text, _ := small.Text(); len(text) > 1<<10 || !small.Over() {
		t.Errorf("%d bytes are kept of a value that is over the limit", len(text))
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("a", []byte("b\n"), byte('"'), byte('\\'), byte('\t'), int64(20), true)
	f.Add("\xff", []byte{0}, byte(0xc3), byte(0xa4), byte(0), int64(3), false)
	f.Fuzz(func(t *testing.T, value string, data []byte, quote, escape, delimiter byte, limit int64, strings bool) {
		limit &= 1<<20 - 1
		format := Format{Delimiter: delimiter, Escape: escape, Quote: quote, Null: `\N`, Header: true, String: strings}
		o := NewOutput(format, limit)
		for i := range 2 {
			rows([]string{"a", "b:text"}, []any{i, value}, []any{value, nil})(o)
			copied(string(data), value)(o)
			tag("SELECT 1")(o)
			if kept := int64(len(o.text)); limit > 0 && kept > limit {
				t.Errorf("%d bytes are kept, the limit is %d", kept, limit)
			}
		}
		text, ok := o.Text()
		if !ok || !utf8.ValidString(text) || bytes.IndexByte([]byte(text), 0) >= 0 {
			t.Errorf("not a text: %q, %t", text, ok)
		}
	})
}
