package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// Format says how the row of a task shows its results.
type Format struct {
	Delimiter byte   // between the values of a row; 0: nothing
	Escape    byte   // before Quote and Escape inside quoted values; 0: nothing
	Quote     byte   // around values; 0: nothing
	Null      string // in place of NULL
	Header    bool   // column names above the rows, if there is more than one column
	String    bool   // quote no numbers, booleans and the like
	JSON      bool   // each result is a line of JSON; the other fields have no effect
}

// Output collects the results of one run as text. It takes the server's messages in their order and
// keeps no more than its limit. It belongs to the goroutine that reads the messages.
type Output struct {
	format Format
	limit  int64

	delimiter, quote string // of format, as text
	special          string // characters that are escaped

	text    []byte // valid UTF-8 without NUL
	closing string // what the text lacks to be JSON
	any     bool   // there is a result, perhaps an empty one
	open    bool   // the last line has no line break yet
	over    bool   // there was more than the limit allows
	binary  bool   // COPY has sent binary data
	current resultSet
	part    part
}

// resultSet is the state of the statement whose answer is read now.
type resultSet struct {
	rows   bool     // it has a row description
	copy   bool     // it is COPY TO STDOUT
	copied bool     // COPY has sent data
	quoted []bool   // for each column
	header [][]byte // column names to show above the first row; nil: none, or already shown
	keys   []string // of JSON: what precedes each value
	filled bool     // of JSON: it has a row
}

// PieceMost is the maximum length of a piece, in bytes.
const PieceMost = 32 << 10

// part is the row or message that the output has begun and may still take back.
type part struct {
	start   int  // where it begins in Output.text
	wasOpen bool // open, before it began

	object bool // a row of JSON, which EndRow has not ended yet
	value  int  // where its value begins in Output.text

	quoted bool // the value under way is quoted
	last   byte // last byte of the pieces
	some   bool // there was a piece

	rune  [utf8.UTFMax]byte // the start of a character that the next piece completes
	known int               // how many bytes of rune are filled
}

// NewOutput returns an output that keeps at most limit bytes; 0 means no limit. If there were more,
// an extra last line says so.
func NewOutput(format Format, limit int64) *Output {
	if format.JSON {
		format = jsonFormat
	}
	o := &Output{format: format, limit: limit, delimiter: character(format.Delimiter), quote: character(format.Quote)}
	o.format.Null = validText(format.Null)
	if format.Escape != 0 && format.Quote < utf8.RuneSelf && format.Escape < utf8.RuneSelf {
		o.special = string([]byte{format.Quote, format.Escape})
	}
	if format.JSON {
		o.special += controls
	}
	return o
}

// character returns the text of one byte; "" for 0, and unreadable for a byte that is not ASCII.
func character(b byte) string {
	switch {
	case b == 0:
		return ""
	case b >= utf8.RuneSelf:
		return unreadable
	}
	return string(rune(b))
}

// Len is the size of the text so far, in bytes.
func (o *Output) Len() int { return len(o.text) }

// Over reports whether there was more than the limit allows.
func (o *Output) Over() bool { return o.over }

// Binary reports whether COPY has sent binary data.
func (o *Output) Binary() bool { return o.binary }

// Text returns the text; ok is false if there were no results at all. Call it once.
func (o *Output) Text() (text string, ok bool) {
	if !o.any {
		return "", false
	}
	jsonLines{o}.close()
	if o.over {
		line := cutMark + " cut: the output is longer than output_limit = %d"
		if o.format.JSON {
			line = `{"cut": "the output is longer than output_limit = %d"}`
		}
		o.text = fmt.Appendf(append(o.text, lineBreak(o.open)...), line, o.limit)
	}
	return unsafe.String(unsafe.SliceData(o.text), len(o.text)), true
}

// begin starts a text of this width after before, and reports whether both fit. After a text that
// does not fit, no other does, even if it is short.
func (o *Output) begin(width int, before string) bool {
	width += len(before)
	o.any = true
	o.part.start, o.part.wasOpen = len(o.text), o.open
	if o.over = o.over || o.exceeds(width); o.over {
		return false
	}
	o.room(width)
	o.text = append(o.text, before...)
	o.open = true
	return true
}

// exceeds tells whether the text is over the limit with n more bytes.
func (o *Output) exceeds(n int) bool {
	return o.limit > 0 && int64(len(o.text))+int64(n)+int64(len(o.closing)) > o.limit
}

// end takes the text that begin has started back if it is too long: replacements of unreadable
// bytes can make it longer than begin expected.
func (o *Output) end() {
	if o.exceeds(0) {
		o.takeBack()
	}
}

func (o *Output) takeBack() { o.text, o.open, o.over = o.text[:o.part.start], o.part.wasOpen, true }

// An output that grows over roomFrom bytes gets room for its whole limit at once, if the limit is
// roomMost or less. So the text uses no more memory than the limit, and is not copied again.
const (
	roomFrom = 1 << 20
	roomMost = 16 << 20
	roomOver = 6*PieceMost + 1<<10 // for text that is taken back, and for the last line
)

// room makes room for n more bytes.
func (o *Output) room(n int) {
	if need := len(o.text) + n; need > roomFrom && need > cap(o.text) && o.limit > 0 && o.limit <= roomMost {
		o.text = append(make([]byte, 0, o.limit+roomOver), o.text...)
	}
}

// value writes a value or a part of it. It replaces invalid bytes, because SQL may have set another
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
		if c := value[i]; c < ' ' && o.format.JSON {
			o.text = append(o.text, control(c)...)
		} else {
			o.text = append(o.text, o.format.Escape, c)
		}
		value = value[i+1:]
	}
}

// add writes the text between values: delimiters, quotes and the text for NULL.
func (o *Output) add(text string) {
	if o.over {
		return
	}
	o.room(len(text))
	o.text = append(o.text, text...)
	o.end()
}

// Values: a value that is too long to be held whole comes in pieces.

// StartValue begins the value of column i.
func (o *Output) StartValue(i int, null bool) { o.startValue(i, null, o.isQuoted(i)) }

func (o *Output) isQuoted(i int) bool { return i < len(o.current.quoted) && o.current.quoted[i] }

func (o *Output) startValue(i int, null, quoted bool) {
	o.part.quoted = !null && quoted
	switch {
	case o.format.JSON:
		o.add(jsonLines{o}.key(i))
		o.part.value = len(o.text)
	case i > 0:
		o.add(o.delimiter)
	}
	switch {
	case null:
		o.add(o.format.Null)
	case o.part.quoted:
		o.add(o.quote)
	}
}

// EndValue ends the value that StartValue has begun.
func (o *Output) EndValue() {
	o.endRune()
	switch {
	case o.part.quoted:
		o.add(o.quote)
	case o.format.JSON:
		jsonLines{o}.settle()
	}
	o.end()
}

// Piece takes the next bytes of a value or of COPY data.
func (o *Output) Piece(p []byte) {
	if o.over || len(p) == 0 {
		return
	}
	o.part.last, o.part.some = p[len(p)-1], true
	p = o.whole(p)
	if o.exceeds(len(p)) {
		o.takeBack()
		return
	}
	o.room(len(p))
	o.value(p, o.part.quoted)
	o.end()
}

// whole completes a character that the previous piece has begun, and keeps back a character that
// this piece begins and does not complete.
func (o *Output) whole(p []byte) []byte {
	for o.part.known > 0 && len(p) > 0 {
		if utf8.RuneStart(p[0]) {
			o.endRune()
			break
		}
		o.part.rune[o.part.known] = p[0]
		o.part.known++
		p = p[1:]
		if utf8.FullRune(o.part.rune[:o.part.known]) {
			o.endRune()
		}
	}
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if tail := p[len(p)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				o.part.known = copy(o.part.rune[:], tail)
				p = p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// endRune writes the character that was kept back.
func (o *Output) endRune() {
	if o.part.known > 0 && !o.over {
		o.value(o.part.rune[:o.part.known], o.part.quoted)
	}
	o.part.known = 0
}
