package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/jackc/pgx/v5/pgproto3"
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

// Output gathers the results of one run as text, from the messages of the server in the order in
// which they come. It belongs to the goroutine that reads them. It keeps no more than its limit.
type Output struct {
	format Format
	limit  int64

	delimiter, quote string // as text
	special          string // what is escaped

	text    []byte // valid
	any     bool   // there is a result, if only an empty one
	open    bool   // the last line has not been ended
	over    bool
	binary  bool // COPY has sent what is no text
	current resultSet
	part    part
}

// resultSet is the state of the statement whose answer is being read.
type resultSet struct {
	rows   bool     // it has a row description
	copy   bool     // it is COPY TO STDOUT
	copied bool     // and has sent something
	quoted []bool   // by column
	header [][]byte // names to show above the first row; nil: none, or shown already
}

// NewOutput returns an output that keeps at most limit bytes, and a last line that says so when
// there were more. A limit of 0 is none.
func NewOutput(format Format, limit int64) *Output {
	o := &Output{format: format, limit: limit, delimiter: character(format.Delimiter), quote: character(format.Quote)}
	o.format.Null = validText(format.Null)
	if format.Escape != 0 && format.Quote < utf8.RuneSelf && format.Escape < utf8.RuneSelf {
		o.special = string([]byte{format.Quote, format.Escape})
	}
	return o
}

// character is the text of one byte; 0 is no text. A byte that is no character is unreadable.
func character(b byte) string {
	switch {
	case b == 0:
		return ""
	case b >= utf8.RuneSelf:
		return unreadable
	}
	return string(rune(b))
}

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
		o.current.header = append(o.current.header, bytes.Clone(field.Name))
	}
}

// Row takes a row of the result that Rows has begun; nil is NULL. It keeps no reference to the
// values. A row without columns is an empty line.
func (o *Output) Row(values [][]byte) {
	o.showHeader()
	o.line(values, o.isQuoted)
}

func (o *Output) isQuoted(i int) bool { return i < len(o.current.quoted) && o.current.quoted[i] }

// showHeader writes the names above the first row.
func (o *Output) showHeader() {
	header := o.current.header
	if header == nil {
		return
	}
	o.current.header = nil
	o.line(header, func(int) bool { return o.format.Quote != 0 })
}

// Complete takes the tag of a statement that has ended. As in psql, it is shown only if the
// statement had neither rows nor the text of COPY.
func (o *Output) Complete(tag []byte) {
	shown := o.current.rows || o.current.copy
	o.current = resultSet{}
	if !shown && o.begin(len(tag), o.open) {
		o.value(tag, false)
		o.end()
	}
}

// CopyOut says that COPY TO STDOUT begins, so that its tag is not shown even if it sends nothing.
// Binary data is not kept.
func (o *Output) CopyOut(binary bool) {
	o.current = resultSet{copy: true}
	o.binary = o.binary || binary
}

// Len is the size of the text so far, in bytes.
func (o *Output) Len() int { return len(o.text) }

// Binary reports whether COPY has sent binary data.
func (o *Output) Binary() bool { return o.binary }

// Copy takes the text of COPY TO STDOUT, which keeps its line ends as they are.
func (o *Output) Copy(data []byte) {
	if len(data) > 0 && o.StartCopy(len(data)) {
		o.Piece(data)
		o.EndCopy()
	}
}

// Over reports whether there was more than the limit allows.
func (o *Output) Over() bool { return o.over }

// Text returns the text; ok is false if there were no results at all. Call it once.
func (o *Output) Text() (text string, ok bool) {
	if !o.any {
		return "", false
	}
	if o.over {
		if o.open {
			o.text = append(o.text, '\n')
		}
		o.text = fmt.Appendf(o.text, cutMark+" cut: the output is longer than output_limit = %d", o.limit)
	}
	return unsafe.String(unsafe.SliceData(o.text), len(o.text)), true
}

// begin makes room for a text of this width, after a line break or not, and reports whether it
// fits. After one that does not fit, nothing more does: the end of the output is not made of small
// pieces.
func (o *Output) begin(width int, lineBreak bool) bool {
	if lineBreak {
		width++
	}
	o.any = true
	o.part.start, o.part.wasOpen = len(o.text), o.open
	if o.over || o.limit > 0 && int64(len(o.text))+int64(width) > o.limit {
		o.over = true
		return false
	}
	o.room(width)
	if lineBreak {
		o.text = append(o.text, '\n')
	}
	o.open = true
	return true
}

// end takes back what begin has begun if it has become too long: bytes that are no text were
// replaced by longer ones.
func (o *Output) end() {
	if o.limit > 0 && int64(len(o.text)) > o.limit {
		o.takeBack()
	}
}

func (o *Output) takeBack() { o.text, o.open, o.over = o.text[:o.part.start], o.part.wasOpen, true }

// What an output has room for from the start once it is longer than roomFrom, if its limit allows
// no more than roomMost: so it has no more room than the limit, and what it has is never copied.
const (
	roomFrom = 1 << 20
	roomMost = 16 << 20
	roomOver = 3*PieceMost + 1<<10 // for what is taken back, and the last line
)

// room makes room for n more bytes.
func (o *Output) room(n int) {
	if need := len(o.text) + n; need > roomFrom && need > cap(o.text) && o.limit > 0 && o.limit <= roomMost {
		o.text = append(make([]byte, 0, o.limit+roomOver), o.text...)
	}
}

// line writes a row that is there as a whole.
func (o *Output) line(values [][]byte, quoted func(int) bool) {
	if !o.begin(0, o.open) {
		return
	}
	for i, value := range values {
		o.startValue(i, value == nil, quoted(i))
		o.Piece(value)
		o.EndValue()
	}
}

// value writes a value, or a part of it. What is not valid is replaced: SQL may have set another
// client_encoding.
func (o *Output) value(value []byte, quoted bool) {
	if !utf8.Valid(value) || bytes.IndexByte(value, 0) >= 0 {
		value = []byte(validText(string(value)))
	}
	if quoted && o.special != "" {
		o.escaped(value)
		return
	}
	o.text = append(o.text, value...)
}

func (o *Output) escaped(value []byte) {
	for {
		i := bytes.IndexAny(value, o.special)
		if i < 0 {
			o.text = append(o.text, value...)
			return
		}
		o.text = append(o.text, value[:i]...)
		o.text = append(o.text, o.format.Escape, value[i])
		value = value[i+1:]
	}
}

// isString reports whether values of a built-in type are quoted when only strings are. For a
// domain, the server names the type below it.
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
