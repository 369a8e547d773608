package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What the messages of a server add to an output.

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

// Row takes a row of the result that Rows has begun; nil is NULL. It keeps no reference to the
// values. A row without columns is an empty line.
func (o *Output) Row(values [][]byte) {
	o.showHeader()
	o.line(values, o.isQuoted)
}

// StartRow begins a row that comes in pieces: StartValue, Piece and EndValue follow for each value.
// It returns false if a row of that least width does not fit.
func (o *Output) StartRow(least int) bool {
	o.showHeader()
	return o.begin(max(least, 0), o.open)
}

// showHeader writes the names above the first row.
func (o *Output) showHeader() {
	header := o.current.header
	if header == nil {
		return
	}
	o.current.header = nil
	o.line(header, func(int) bool { return o.format.Quote != 0 })
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

// Copy takes the text of COPY TO STDOUT, which keeps its line ends as they are.
func (o *Output) Copy(data []byte) {
	if len(data) > 0 && o.StartCopy(len(data)) {
		o.Piece(data)
		o.EndCopy()
	}
}

// StartCopy begins a message of COPY of a known length; Piece and EndCopy follow. It returns false
// if the message is not kept.
func (o *Output) StartCopy(length int) bool {
	if o.binary {
		return false
	}
	o.part.quoted, o.part.some = false, false
	if !o.current.copy {
		o.CopyOut(false)
	}
	return o.begin(length, o.open && !o.current.copied)
}

// EndCopy ends the message.
func (o *Output) EndCopy() {
	o.endRune()
	o.current.copied = true
	if !o.over && o.part.some {
		o.open = o.part.last != '\n'
	}
	o.end()
}

// Notices gathers the notices and warnings of one run, in the form of errors, up to 64 kB; the zero
// value is empty. It belongs to the goroutine that reads the server's messages.
type Notices struct {
	text strings.Builder
	more int // how many found no room
}

// noticeRoom is what a notice needs at least to be worth beginning, and noticeRest is kept for the
// last line.
const (
	noticeRoom = 256
	noticeRest = 64
)

// Add takes a notice. It leaves out the context, as psql does, since each line of PL/pgSQL that
// raises a notice would repeat it.
func (n *Notices) Add(notice *pgproto3.NoticeResponse) {
	room := Limit - noticeRest - n.text.Len() - len("\n")
	if n.more > 0 || room < noticeRoom {
		n.more++
		return
	}
	if n.text.Len() > 0 {
		n.text.WriteByte('\n')
	}
	n.text.WriteString(logText(errorLines((*pgproto3.ErrorResponse)(notice)), room))
}

// Text returns the notices in the order in which they came; ok is false when there were none.
func (n *Notices) Text() (text string, ok bool) {
	if n.text.Len() == 0 {
		return "", false
	}
	if n.more == 0 {
		return n.text.String(), true
	}
	return fmt.Sprintf("%s\n%s and %d more", n.text.String(), cutMark, n.more), true
}

// Limit bounds the text of an error, and of all notices of a run, in bytes.
const Limit = 64 << 10

// cutMark stands where a text has been cut, and unreadable for bytes that are no text. Any database
// can store both, whatever its encoding.
const (
	cutMark    = "..."
	unreadable = "?"
)

// ASCII is a text that any database can store.
func ASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, text)
}

// validText makes any bytes a text that PostgreSQL can store: valid UTF-8 without NUL.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, unreadable), "\x00", unreadable)
}

// cutText cuts a text that is longer than limit bytes between two characters, and marks where.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(cutMark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}
