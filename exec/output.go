package exec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/text/encoding/charmap"
)

// Format says how a task wants its results shown.
type Format struct {
	Delimiter byte   // between the values of a row; 0: nothing
	Escape    byte   // before Quote and Escape inside quoted values; 0: nothing
	Quote     byte   // around values; 0: nothing
	Null      string // in place of NULL
	Header    bool   // names above the rows of results with more than one column
	String    bool   // quote no numbers, booleans and the like
}

// Output gathers the results of one run as text, from the messages of the server in the order in which they come.
// It belongs to the goroutine that reads them. It keeps no more than its limit.
type Output struct {
	format  Format
	limit   int64
	charset *charmap.Charmap // what the server's bytes are to be translated from; nil: nothing to translate

	text    strings.Builder
	any     bool // there is a result, if only an empty one
	open    bool // the last line has not been ended
	over    bool
	current resultSet
}

// resultSet is the state of the statement whose answer is being read.
type resultSet struct {
	rows   bool     // it has a row description
	copy   bool     // it is COPY TO STDOUT
	copied bool     // and has sent something
	quoted []bool   // by column
	header [][]byte // names to show above the first row; nil: none, or shown already
}

// NewOutput returns an output that keeps at most limit bytes, and a last line that says so when there were more. A limit
// of 0 is none.
func NewOutput(format Format, limit int64) *Output {
	return &Output{format: format, limit: limit}
}

// Encoding tells the client_encoding, by the server's name, of the messages that follow. Encodings of one byte per
// character are translated; of others all that is not valid UTF-8 is replaced.
func (o *Output) Encoding(name string) { o.charset = charsets[name] }

// Rows takes a row description: the answer to the statement is rows.
func (o *Output) Rows(fields []pgproto3.FieldDescription) {
	o.current = resultSet{rows: true}
	if o.over {
		return
	}
	for _, field := range fields {
		quoted := o.format.Quote != 0 && (!o.format.String || isString(field.DataTypeOID))
		o.current.quoted = append(o.current.quoted, quoted)
	}
	if !o.format.Header || len(fields) < 2 {
		return
	}
	for _, field := range fields {
		o.current.header = append(o.current.header, o.decode(bytes.Clone(field.Name)))
	}
}

// Row takes a row of the result that Rows has begun; nil is NULL. It keeps no reference to the values. A row without
// columns is an empty line.
func (o *Output) Row(values [][]byte) {
	if header := o.current.header; header != nil {
		o.current.header = nil
		o.line(header, func(int) bool { return o.format.Quote != 0 })
	}
	if o.charset != nil && !o.over {
		values = slices.Clone(values)
		for i, value := range values {
			values[i] = o.decode(value)
		}
	}
	o.line(values, func(i int) bool { return i < len(o.current.quoted) && o.current.quoted[i] })
}

// Complete takes the tag of a statement that has ended. It is kept only when the statement could not have shown anything
// else: neither rows nor the text of COPY, as in psql.
func (o *Output) Complete(tag []byte) {
	shown := o.current.rows || o.current.copy
	o.current = resultSet{}
	if !shown && o.begin(len(tag), o.open) {
		o.text.Write(tag)
	}
}

// CopyOut says that COPY TO STDOUT begins, so that one without any data is known for what it is.
func (o *Output) CopyOut() { o.current = resultSet{copy: true} }

// Copy takes the text of COPY TO STDOUT, which keeps its line ends as they are.
func (o *Output) Copy(data []byte) {
	if len(data) == 0 {
		return
	}
	if !o.current.copy {
		o.CopyOut()
	}
	data = o.decode(data)
	if o.begin(len(data), o.open && !o.current.copied) {
		o.text.Write(data)
		o.open = data[len(data)-1] != '\n'
	}
	o.current.copied = true
}

// Over reports whether there was more than the limit allows.
func (o *Output) Over() bool { return o.over }

// Text returns what has been gathered, as valid text; ok is false when there were no results at all.
func (o *Output) Text() (text string, ok bool) {
	if !o.any {
		return "", false
	}
	text = o.text.String()
	if o.over {
		if o.open {
			text += "\n"
		}
		text += fmt.Sprintf("… cut: the output is longer than output_limit = %d", o.limit)
	}
	return validText(text), true
}

// begin makes ready for text of a known width, behind a line break or not, and reports whether it fits. When it does
// not, nothing more ever does, so that the end of the text is not made of whatever is small enough.
func (o *Output) begin(width int, lineBreak bool) bool {
	if lineBreak {
		width++
	}
	o.any = true
	if o.over || o.limit > 0 && int64(o.text.Len())+int64(width) > o.limit {
		o.over = true
		return false
	}
	if lineBreak {
		o.text.WriteByte('\n')
	}
	o.open = true
	return true
}

func (o *Output) line(values [][]byte, quoted func(int) bool) {
	if o.over || !o.begin(o.width(values, quoted), o.open) {
		return
	}
	for i, value := range values {
		if i > 0 && o.format.Delimiter != 0 {
			o.text.WriteByte(o.format.Delimiter)
		}
		switch {
		case value == nil:
			o.text.WriteString(o.format.Null)
		case quoted(i):
			o.text.WriteByte(o.format.Quote)
			o.escaped(value)
			o.text.WriteByte(o.format.Quote)
		default:
			o.text.Write(value)
		}
	}
}

// width counts the bytes of a line before any is written: a line beyond the limit must not cost memory first.
func (o *Output) width(values [][]byte, quoted func(int) bool) int {
	width := 0
	for i, value := range values {
		if i > 0 && o.format.Delimiter != 0 {
			width++
		}
		switch {
		case value == nil:
			width += len(o.format.Null)
		case quoted(i):
			width += len(value) + 2 + o.escapes(value)
		default:
			width += len(value)
		}
	}
	return width
}

func (o *Output) escapes(value []byte) int {
	f := o.format
	switch f.Escape {
	case 0:
		return 0
	case f.Quote:
		return bytes.Count(value, []byte{f.Quote})
	}
	return bytes.Count(value, []byte{f.Quote}) + bytes.Count(value, []byte{f.Escape})
}

func (o *Output) escaped(value []byte) {
	if o.format.Escape == 0 {
		o.text.Write(value)
		return
	}
	special := string([]byte{o.format.Quote, o.format.Escape})
	for {
		i := indexEither(value, special)
		if i < 0 {
			o.text.Write(value)
			return
		}
		o.text.Write(value[:i])
		o.text.WriteByte(o.format.Escape)
		o.text.WriteByte(value[i])
		value = value[i+1:]
	}
}

// indexEither finds the first byte of two, which need not be ASCII.
func indexEither(value []byte, two string) int {
	for i, b := range value {
		if b == two[0] || b == two[1] {
			return i
		}
	}
	return -1
}

// decode translates text of the server's to UTF-8; NULL stays nil.
func (o *Output) decode(text []byte) []byte {
	if o.charset == nil || text == nil || o.over {
		return text
	}
	decoded := make([]byte, 0, len(text))
	for _, b := range text {
		decoded = utf8.AppendRune(decoded, o.charset.DecodeByte(b))
	}
	return decoded
}

var charsets = map[string]*charmap.Charmap{
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3,
	"LATIN4": charmap.ISO8859_4, "LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10,
	"LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14, "LATIN9": charmap.ISO8859_15,
	"LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5, "ISO_8859_6": charmap.ISO8859_6,
	"ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
	"WIN866": charmap.CodePage866, "WIN874": charmap.Windows874, "WIN1250": charmap.Windows1250,
	"WIN1251": charmap.Windows1251, "WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253,
	"WIN1254": charmap.Windows1254, "WIN1255": charmap.Windows1255, "WIN1256": charmap.Windows1256,
	"WIN1257": charmap.Windows1257, "WIN1258": charmap.Windows1258,
}

// isString reports whether values of a built-in type are quoted when only strings are. Of a domain the server names
// the type below.
func isString(oid uint32) bool {
	switch oid {
	case 16, // bool
		20, 21, 23, // int8, int2, int4
		26, 27, 28, 29, 5069, // oid, tid, xid, cid, xid8
		700, 701, 1700, // float4, float8, numeric
		1560: // bit
		return false
	}
	return true
}

// validText makes any bytes a text that PostgreSQL stores: valid UTF-8 without NUL.
func validText(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", string(utf8.RuneError))
	}
	return s
}
