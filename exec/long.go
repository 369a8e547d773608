package exec

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Messages that are taken in pieces (bound.go).

// What is kept of the fields of an error or notice, in bytes: of the texts together more than a row
// shows, so that it shows that they are cut; of each of the others as much as a name needs. A server
// sends each field once, and knows fewer than fieldsMost: what comes behind so many is not looked at.
const (
	fieldsKept = TextLimit + 16<<10
	nameKept   = 256
	fieldsMost = 32
)

// longFields keeps of an error or notice what a row shows. What a row shows first comes first, and
// is kept.
type longFields struct {
	kept  []byte
	count int  // of the fields that have begun
	texts int  // bytes that may still be kept of texts
	kind  byte // of the field under way, 0: between two
	room  int  // bytes that may still be kept of it
}

func newLongFields() *longFields { return &longFields{texts: fieldsKept} }

func (f *longFields) take(p []byte) {
	for len(p) > 0 && (f.kind != 0 || f.count < fieldsMost) {
		if f.kind == 0 {
			f.begin(p[0])
			p = p[1:]
			continue
		}
		n := bytes.IndexByte(p, 0)
		if n < 0 {
			f.keep(p)
			return
		}
		f.keep(p[:n])
		f.end()
		p = p[n+1:]
	}
}

func (f *longFields) begin(kind byte) {
	if kind == 0 { // the end of the message
		f.count = fieldsMost
		return
	}
	f.count++
	f.kind, f.room = kind, nameKept
	if isText(kind) {
		f.room = min(TextLimit+1, f.texts)
	}
	f.kept = append(f.kept, kind)
}

func (f *longFields) keep(p []byte) {
	p = p[:min(len(p), f.room)]
	f.room -= len(p)
	if isText(f.kind) {
		f.texts -= len(p)
	}
	f.kept = append(f.kept, p...)
}

func (f *longFields) end() {
	f.kind = 0
	f.kept = append(f.kept, 0)
}

// message is the short message in place of the long one.
func (f *longFields) message(kind byte) []byte {
	if f.kind != 0 {
		f.end()
	}
	return encoded(kind, append(f.kept, 0))
}

// isText tells the fields that may have any length: message, detail, hint, query and context.
func isText(kind byte) bool {
	switch kind {
	case 'M', 'D', 'H', 'q', 'W':
		return true
	}
	return false
}

// longRow hands the values of a row to the output.
type longRow struct {
	output *Output
	number [4]byte // the count of the values, or the length of the next one
	known  int     // bytes of it that have come
	begun  bool    // the count has come
	column int     // of the value that comes next
	values int
	left   int  // bytes of the value under way that are still to come
	inside bool // there is one
}

func (r *longRow) take(p []byte) {
	for len(p) > 0 {
		switch {
		case r.inside:
			n := min(len(p), r.left)
			r.output.piece(p[:n])
			r.left -= n
			p = p[n:]
			r.endValue()
		case r.begun && r.column == r.values:
			return
		default:
			r.number[r.known] = p[0]
			r.known++
			p = p[1:]
			r.read()
		}
	}
}

// read takes up a number that has come whole.
func (r *longRow) read() {
	switch {
	case !r.begun && r.known == 2:
		r.begun, r.known = true, 0
		r.values = min(valuesMost, int(binary.BigEndian.Uint16(r.number[:])))
	case r.known == 4:
		r.known = 0
		r.left = int(int32(binary.BigEndian.Uint32(r.number[:])))
		r.inside = true
		r.output.startValue(r.column, r.left < 0, r.output.isQuoted(r.column))
		r.left = max(r.left, 0)
		r.endValue()
	}
}

func (r *longRow) endValue() {
	if r.left > 0 {
		return
	}
	r.output.endValue()
	r.inside = false
	r.column++
}

func (r *longRow) end() {
	if r.inside {
		r.output.endValue()
	}
	r.output.endRow()
}

// encoded is a message as the server sends it.
func encoded(kind byte, body []byte) []byte {
	m := append(make([]byte, 0, 5+len(body)), kind)
	return append(binary.BigEndian.AppendUint32(m, uint32(4+len(body))), body...)
}

// part is what the output has begun, and may have to take back.
type part struct {
	start   int  // where it begins in the text
	wasOpen bool // the last line before it had not been ended

	quoted bool // the value under way is
	last   byte // of the pieces
	some   bool // there was one

	rune  [utf8.UTFMax]byte // the beginning of a character whose end comes with the next piece
	known int               // bytes of it
}

// startRow begins a row of a least width that comes in pieces, of startValue, piece, and endValue;
// endRow ends it. It is kept if all of it fits; startRow returns false if it does not.
func (o *Output) startRow(least int) bool {
	o.showHeader()
	return o.begin(max(least, 0), o.open)
}

func (o *Output) endRow() { o.end() }

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

func (o *Output) endValue() {
	o.endRune()
	if o.part.quoted {
		o.add(o.quote)
	}
}

// startCopy begins a piece of the text of COPY, of a known length, that comes in pieces itself;
// endCopy ends it. startCopy returns false if it is not kept.
func (o *Output) startCopy(length int) bool {
	if o.binary {
		return false
	}
	o.part.quoted, o.part.some = false, false
	if !o.current.copy {
		o.CopyOut(false)
	}
	return o.begin(length, o.open && !o.current.copied)
}

func (o *Output) endCopy() {
	o.endRune()
	o.current.copied = true
	if !o.over && o.part.some {
		o.open = o.part.last != '\n'
	}
	o.end()
}

// piece takes the next bytes of a value, or of the text of COPY.
func (o *Output) piece(p []byte) {
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

// whole completes the character that the piece before has begun, and keeps back the one that is not
// whole at the end of this one.
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

// add writes what stands between values.
func (o *Output) add(text string) {
	if o.over {
		return
	}
	o.room(len(text))
	o.text = append(o.text, text...)
	o.end()
}
