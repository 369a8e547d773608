package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"
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

// PieceMost is how long a piece may be, in bytes.
const PieceMost = 32 << 10

// part is what the output has begun, and may take back.
type part struct {
	start   int  // where it begins in the text
	wasOpen bool // the last line before it had not been ended

	quoted bool // the value under way is
	last   byte // of the pieces
	some   bool // there was one

	rune  [utf8.UTFMax]byte // the beginning of a character whose end comes with the next piece
	known int               // bytes of it
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

// add writes what stands between values.
func (o *Output) add(text string) {
	if o.over {
		return
	}
	o.room(len(text))
	o.text = append(o.text, text...)
	o.end()
}

// Values, which may come in pieces if they are too long to be held whole.

// StartValue begins the value of column i.
func (o *Output) StartValue(i int, null bool) { o.startValue(i, null, o.isQuoted(i)) }

func (o *Output) isQuoted(i int) bool { return i < len(o.current.quoted) && o.current.quoted[i] }

func (o *Output) startValue(i int, null, quoted bool) {
	o.part.quoted = !null && quoted
	if i > 0 {
		o.add(o.delimiter)
	}
	switch {
	case null:
		o.add(o.format.Null)
	case o.part.quoted:
		o.add(o.quote)
	}
}

// EndValue ends the value.
func (o *Output) EndValue() {
	o.endRune()
	if o.part.quoted {
		o.add(o.quote)
	}
	o.end()
}

// Piece takes the next bytes of a value, or of the text of COPY.
func (o *Output) Piece(p []byte) {
	if o.over || len(p) == 0 {
		return
	}
	o.part.last, o.part.some = p[len(p)-1], true
	p = o.whole(p)
	if o.limit > 0 && int64(len(o.text)+len(p)) > o.limit {
		o.takeBack()
		return
	}
	o.room(len(p))
	o.value(p, o.part.quoted)
	o.end()
}

// whole completes the character that the piece before has begun, and keeps back a character that
// this piece does not complete.
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

// endRune writes the character that has been kept back.
func (o *Output) endRune() {
	if o.part.known > 0 && !o.over {
		o.value(o.part.rune[:o.part.known], o.part.quoted)
	}
	o.part.known = 0
}
