package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Rows takes a row description: the statement returns rows.
func (o *Output) Rows(fields []pgproto3.FieldDescription) {
	o.current = resultSet{rows: true}
	if o.format.JSON {
		jsonLines{o}.rows(fields)
		return
	}
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

// isString reports whether Format.String quotes values of this type. For a domain, the server sends
// the type below the domain.
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
// values. A row without columns makes an empty line.
func (o *Output) Row(values [][]byte) {
	o.line(values, o.isQuoted)
}

// StartRow begins a row that comes in pieces: StartValue, Piece and EndValue follow for each value,
// then EndRow. It returns false if not even a row of this least width fits.
func (o *Output) StartRow(least int) bool {
	o.showHeader()
	if o.format.JSON {
		return jsonLines{o}.object(max(least, 0))
	}
	return o.begin(max(least, 0), lineBreak(o.open))
}

// lineBreak returns the text between two lines, if the first one is open.
func lineBreak(open bool) string {
	if open {
		return "\n"
	}
	return ""
}

// EndRow ends the row that StartRow has begun.
func (o *Output) EndRow() {
	if o.part.object {
		o.part.object = false
		o.add("}")
	}
}

// showHeader writes the column names above the first row.
func (o *Output) showHeader() {
	header := o.current.header
	if header == nil {
		return
	}
	o.current.header = nil
	o.line(header, func(int) bool { return o.format.Quote != 0 })
}

// line writes a whole row.
func (o *Output) line(values [][]byte, quoted func(int) bool) {
	if !o.StartRow(0) {
		return
	}
	for i, value := range values {
		o.startValue(i, value == nil, quoted(i))
		o.Piece(value)
		o.EndValue()
	}
	o.EndRow()
}

// Complete takes the command tag at the end of a statement. As in psql, the output shows the tag
// only if the statement had neither rows nor COPY data.
func (o *Output) Complete(tag []byte) {
	shown := o.current.rows || o.current.copy
	o.current = resultSet{}
	jsonLines{o}.close()
	switch {
	case shown:
	case o.format.JSON:
		jsonLines{o}.command(tag)
	case o.begin(len(tag), lineBreak(o.open)):
		o.value(tag, false)
		o.end()
	}
}

// CopyOut begins the answer of COPY TO STDOUT. Its tag is not shown, even if it sends no data. The
// output does not keep binary data.
func (o *Output) CopyOut(binary bool) {
	o.current = resultSet{copy: true}
	o.binary = o.binary || binary
	if o.format.JSON {
		jsonLines{o}.start(`{"copy": "`, `"}`)
	}
}

// Copy takes text of COPY TO STDOUT, and keeps the line ends as they are.
func (o *Output) Copy(data []byte) {
	if len(data) > 0 && o.StartCopy(len(data)) {
		o.Piece(data)
		o.EndCopy()
	}
}

// StartCopy begins a COPY message of this length; Piece and EndCopy follow. It returns false if the
// output does not keep the message.
func (o *Output) StartCopy(length int) bool {
	if o.binary {
		return false
	}
	if !o.current.copy {
		o.CopyOut(false)
	}
	before := lineBreak(o.open)
	if o.current.copied || o.format.JSON {
		before = ""
	}
	o.part.quoted, o.part.some = o.format.JSON, false
	return o.begin(length, before)
}

// EndCopy ends the message that StartCopy has begun.
func (o *Output) EndCopy() {
	o.endRune()
	o.current.copied = true
	if !o.over && o.part.some && !o.format.JSON {
		o.open = o.part.last != '\n'
	}
	o.end()
}

// Notices collects the notices and warnings of one run, in the form of errors, up to 64 kB. The
// zero value is empty. It belongs to the goroutine that reads the server's messages.
type Notices struct {
	text strings.Builder
	more int // how many did not fit
}

// noticeRoom is the least room for a notice, in bytes: with less, Add drops the notice. noticeRest
// is kept free for the last line.
const (
	noticeRoom = 256
	noticeRest = 64
)

// Add takes a notice. Like psql it leaves out the context, which every RAISE of PL/pgSQL would
// repeat.
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

// Text returns the notices in their order; ok is false if there were none.
func (n *Notices) Text() (text string, ok bool) {
	if n.text.Len() == 0 {
		return "", false
	}
	if n.more == 0 {
		return n.text.String(), true
	}
	return fmt.Sprintf("%s\n%s and %d more", n.text.String(), cutMark, n.more), true
}

// Limit is the maximum length of an error's text, and of all notices of a run together, in bytes.
const Limit = 64 << 10

// cutMark marks where a text was cut. unreadable replaces bytes that are no text. A database of any
// encoding can store both.
const (
	cutMark    = "..."
	unreadable = "?"
)

// ASCII replaces every other character, so that any database can store the text.
func ASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, text)
}

// validText makes a text that PostgreSQL can store: valid UTF-8 without NUL.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, unreadable), "\x00", unreadable)
}

// cutText shortens a text to limit bytes. It cuts between two characters and adds cutMark.
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
